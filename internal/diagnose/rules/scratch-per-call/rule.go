// Package scratchpercall finds memory that a call makes, uses and drops, where that is most of the program's garbage.
package scratchpercall

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes is the line's least share of all allocated bytes.
	leastBytes = 0.2
	// leastSize of an object, in bytes, on average: below, putting it into a pool and taking it out costs what making it does.
	leastSize = 512
	// mostLive is the share of what was made that a collection may find alive: what is kept cannot be used again.
	mostLive = 0.02
)

// Rule is scratch-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "scratch-per-call",
		Kind:  rule.Alloc,
		Title: "Scratch memory allocated on every call",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Of memory of some KiB that is taken from a pool, clearing the length and the pool's own work stay.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95},
				Specificity: -50, // a rule that knows what is made says more
			},
			Prepare: prepare,
		},
	}
}

const doc = `One line allocates a slice, a map or a struct for each request. It is a large
part of all garbage, and dead by the next collection. The allocator clears it,
the collector frees it, and the next request makes the same again.

Reuse it: keep it in a sync.Pool (of pointers; with its length set to 0 and its
references cleared before it goes back), let the caller hand over the memory to
fill (append to a parameter), or make it a field of what lives longer and is
used by one goroutine at a time. Where its size is known to be small, an array
on the stack does, if nothing lets it escape: the compiler says what does.

It is fine where the memory is given to somebody who keeps it. The rule speaks
of lines that make a fifth of all bytes or more, in objects of 512 bytes or
more, of which a collection finds next to none alive, in functions that neither
return nor store them. Make sure that no callee still holds them when they go
back.

Seen in the field: the buffers that fasthttp, zap, io.Copy's callers and fmt itself
keep in pools.`

func prepare(_ context.Context, p *rule.Pass) (finder.Line, bool) {
	all := float64(p.Table.Totals.AllocBytes)
	take := func(s *site.Site) rule.Match {
		m := finder.TakeOwn(s)
		bytes, objects := stacks.Sum(m.Allocs)
		live, _ := stacks.Sum(m.Live)
		if all <= 0 || float64(bytes) < leastBytes*all || objects == 0 || bytes/objects < leastSize || float64(live) > mostLive*float64(bytes) {
			return rule.Match{Site: s}
		}
		return m
	}
	judge := func(c *finder.Case) bool {
		place := c.Place
		made := scratch(place)
		if made == nil || place.Decl == nil || !syntax.AllocatesOnly(place, made) || !stays(place, made) {
			return false
		}
		describe(p, place, c.Match, made)
		return true
	}
	return finder.Line{Start: finder.Rows(take), Judge: judge}, true
}

// scratch returns what the line makes, when that is one thing that could be used again.
func scratch(p *gocode.Place) ast.Expr {
	var made ast.Expr
	for _, n := range syntax.Allocating(p) {
		e, ok := n.(ast.Expr)
		if !ok || made != nil {
			return nil
		}
		made = e
	}
	if made == nil {
		return nil
	}
	switch e := ast.Unparen(made).(type) {
	case *ast.CallExpr:
		if name := p.CalleeName(e); name != "make" && name != "new" {
			return nil
		}
	case *ast.CompositeLit, *ast.UnaryExpr:
	default:
		return nil
	}
	t := p.TypeOf(made)
	if t == nil {
		return nil
	}
	if _, ok := t.Underlying().(*types.Chan); ok {
		return nil
	}
	return made
}

// stays reports whether what is made is a local variable's that the function only uses and passes to what it calls: it is
// not returned, stored, sent or caught by a closure.
func stays(p *gocode.Place, made ast.Expr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, made))
	if v == nil || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	at := p.Outer()
	for _, use := range syntax.Reads(p, v) {
		around := at.Enclosing(use)
		if len(around) == 0 || leaves(at, use, around) {
			return false
		}
	}
	return true
}

// leaves reports whether a use of a variable hands its memory to somebody who may keep it.
func leaves(p *gocode.Place, use ast.Expr, around []ast.Node) bool {
	var child ast.Node = use
	for _, n := range around {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.SliceExpr, *ast.StarExpr:
		case *ast.IndexExpr:
			return n.X != child // an element, or an index
		case *ast.SelectorExpr:
			return false // a field's value, or a method, which may keep it as other functions may
		case *ast.CallExpr:
			return p.CalleeName(n) == "append"
		case *ast.BinaryExpr, *ast.RangeStmt:
			return false
		default:
			return true
		}
		child = n
	}
	return true
}

func describe(p *rule.Pass, place *gocode.Place, m *rule.Match, made ast.Expr) {
	bytes, objects := stacks.Sum(m.Allocs)
	m.Cause = fmt.Sprintf("%s allocates %s each time %s runs it, %s of all bytes, and a collection finds next to none of that alive: it is used for one call and dropped.",
		syntax.Text(made), units.Bytes(float64(bytes)/float64(objects)), syntax.FuncName(place), units.Percent(float64(bytes)/float64(p.Table.Totals.AllocBytes)))
	m.Fix = "Use the memory again: a sync.Pool, with the length set to 0 and references cleared before it goes back, or a parameter that the caller hands over to append to."
	if words := evidence.EscapeReasons(p, m.Site); len(words) > 0 {
		m.Fix += fmt.Sprintf(" It is on the heap since %s.", words[0])
	}
	m.Confidence = rule.Likely
}
