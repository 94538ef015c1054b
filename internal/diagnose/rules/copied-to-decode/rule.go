// Package copiedtodecode finds bytes that are copied out of memory which a store or reader lends,
// only to be decoded.
package copiedtodecode

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastShare = 0.02 // of all bytes
	leastSize  = 256  // bytes of a copy, on average
	// mostLive is the largest share of the copies that a collection may find alive.
	mostLive = 0.02
	// mostly is the minimum share of the bytes whose callers only decode them.
	mostly = 0.8
)

// Rule is copied-to-decode.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copied-to-decode",
		Kind:  rule.Alloc,
		Title: "Bytes copied only to be decoded",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.8, High: 1},
				Specificity: 3, // rules for buffers would keep the copy
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A store such as bbolt lends its memory: the value that Get returns is valid until
the transaction ends. So a function copies the value into a new slice, ends the
transaction, decodes the copy, and drops it. Each read allocates as many bytes as
the value has, though decoding copies what it keeps. The same goes for ValueCopy of
badger and for the bytes that a bufio.Scanner lends until the next Scan.

Decode where the memory is valid: in the function that View gets, in the one for
Item.Value, before the next Scan. A function that reads values for many types can
take the decoder, or the value to decode into, instead of returning bytes.

It is fine where the bytes are kept, written to a slow client, or passed to
another goroutine, and where a decoder keeps parts of its input. The rule follows
the copy through the function, and through its caller if it is returned. It reports
copies of at least 256 bytes on average that only decoders get, and of which almost
none are alive at a collection.

Seen in the field: portainer/portainer#9111 (each object copied, then decoded).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	all := float64(p.Table.Totals.AllocBytes)
	take := func(s *site.Site) rule.Match {
		m := finder.TakeCallsAndOwn(s, "bytes.Clone", "slices.Clone*", "runtime.memmove", "runtime.growslice*", "runtime.makeslice*", "github.com/dgraph-io/badger*.(*Item).ValueCopy")
		bytes, objects := stacks.Sum(m.Allocs)
		live, _ := stacks.Sum(m.Live)
		if all <= 0 || float64(bytes) < leastShare*all || objects == 0 || bytes/objects < leastSize || float64(live) > mostLive*float64(bytes) {
			return rule.Match{Site: s}
		}
		return m
	}
	return finder.Line{Start: finder.Rows(take), Judge: judge}
}

func judge(c *finder.Case) bool {
	if c.Place.Decl == nil || c.Place.Decl.Body == nil {
		return false
	}
	made := copyAt(c.Place)
	if made == nil {
		return false
	}
	p := c.Place.Outer()
	u := usesOf(p, made)
	by := u.decoder
	switch {
	case !u.fine:
		return false
	case u.returned:
		if by = decodedAbove(c, p.Decl); by == "" {
			return false
		}
	case by == "":
		return false
	}
	bytes, objects := stacks.Sum(c.Allocs)
	c.Cause = fmt.Sprintf("%s copies %s into new memory, %s each time, which only %s gets: it decodes the copy, and nothing keeps it.",
		syntax.FuncName(c.Place), made.what, units.Bytes(float64(bytes)/float64(objects)), by)
	c.Fix = made.lender.fix
	if u.returned {
		c.Fix += fmt.Sprintf(" Let %s take a function that decodes, or the value to decode into, instead of returning bytes.", syntax.FuncName(p))
	}
	c.Confidence = rule.Likely // a decoder may keep parts of its input
	return true
}

// decodedAbove returns what the callers that get a returned copy decode it with; "" if they do
// something else with more than a few of the bytes.
func decodedAbove(c *finder.Case, decl *ast.FuncDecl) (by string) {
	var decoded, all int64
	for _, r := range c.Allocs {
		all += r.Value
		top := -1
		for i, f := range r.Stack {
			if p, ok := c.Pass.Syntax.At(f.File, f.Line); ok && p.Decl != nil && p.Decl.Pos() == decl.Pos() {
				top = i
			}
		}
		if top < 0 || top+1 >= len(r.Stack) {
			continue
		}
		f := r.Stack[top+1]
		p, ok := c.Pass.Syntax.At(f.File, f.Line)
		if !ok || p.Decl == nil || p.Decl.Body == nil {
			continue
		}
		call := loops.CallTo(p, r.Stack[top].Function)
		if call == nil {
			continue
		}
		with := decoderOf(p, call)
		if v := syntax.LocalVar(p, syntax.AssignedTo(p, call)); v != nil {
			if u := usesOf(p.Outer(), &lent{made: call, to: v}); u.fine && !u.returned {
				with = u.decoder
			}
		}
		if with != "" {
			by, decoded = with, decoded+r.Value
		}
	}
	if float64(decoded) < mostly*float64(all) {
		return ""
	}
	return by
}
