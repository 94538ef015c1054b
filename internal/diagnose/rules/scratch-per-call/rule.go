// Package scratchpercall finds memory that a call makes, uses and drops, where that is most of the program's garbage.
package scratchpercall

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastBytes is the line's least share of all allocated bytes.
	leastBytes = 0.2
	// leastSize of an object, in bytes, on average, that is worth a pool at any rate. Smaller ones, of smallSize and more, are where
	// making and collecting them takes mostCPU of the program's: a pool costs about 20 ns for taking and giving back.
	leastSize = 512
	smallSize = 64
	mostCPU   = 0.25
	// mostLive is the share of what was made that a collection may find alive: what is kept cannot be used again.
	mostLive = 0.02
)

// Rule is scratch-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "scratch-per-call",
		Kind:  rule.Alloc,
		Title: "Memory made for each call and dropped after it",
		Doc:   doc,
		// Of memory of some KiB that is taken from a pool, clearing the length and the pool's own work stay.
		Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95},
		Specificity: -50, // a rule that knows what is made says more
		Find:        find,
	}
}

const doc = `One line makes a slice, a map or a struct for each request, which is a good part of
all the garbage there is, and by the next collection all of it is dead. The
allocator clears it, the collector frees it, and the next request makes the same
again.

Use it again: keep it in a sync.Pool (of pointers; with its length set to 0 and its
references cleared before it goes back), let the caller hand over the memory to
fill (append to a parameter), or make it a field of what lives longer and is used
by one goroutine at a time. Where its size is known to be small, an array on the
stack does, if nothing lets it escape: the compiler says what does.

It is fine where the memory is given to somebody who keeps it. The rule speaks of
lines that make a fifth of all bytes or more, in objects of 512 bytes or more (or
smaller ones that take a quarter of all CPU), of which a collection finds next to
none alive, and not of strings, which nobody can
use again. Be sure that nobody holds the memory when it goes back.

Seen in the field: julienschmidt/httprouter#275 (a list of parameters for each
request), and the buffers that fasthttp, zap and fmt itself keep in pools.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	all := float64(p.Table.Totals.AllocBytes)
	return p.Judge(func(s *site.Site) rule.Match {
		m := rule.TakeHere(s)
		bytes, objects := rule.Sum(m.Allocs)
		live, _ := rule.Sum(m.Live)
		if all <= 0 || float64(bytes) < leastBytes*all || objects == 0 || !worth(p, s, bytes/objects) || float64(live) > mostLive*float64(bytes) {
			return rule.Match{Site: s}
		}
		return m
	}, func(place *gocode.Place, m *rule.Match) bool {
		if m.Empty() {
			return false
		}
		made := scratch(place)
		if made == nil || place.Decl == nil || !rule.OnlyMakes(place, made) {
			return false
		}
		describe(p, place, m, made)
		return true
	}, nil), nil
}

// worth reports whether objects of that size are worth a pool.
func worth(p *rule.Pass, s *site.Site, size int64) bool {
	return size >= leastSize || size >= smallSize && s.Cost.MallocSeconds+s.Cost.GCSeconds >= mostCPU*p.Table.Totals.TotalSeconds
}

// scratch returns what the line makes, when that is one thing that could be used again.
func scratch(p *gocode.Place) ast.Expr {
	var made ast.Expr
	for _, n := range rule.Makers(p) {
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

func describe(p *rule.Pass, place *gocode.Place, m *rule.Match, made ast.Expr) {
	bytes, objects := rule.Sum(m.Allocs)
	m.Cause = fmt.Sprintf("%s allocates %s each time %s runs it, %s of all bytes, and a collection finds next to none of that alive: it is used for one call and dropped.",
		rule.Text(made), rule.Bytes(float64(bytes)/float64(objects)), rule.FuncName(place), rule.Percent(float64(bytes)/float64(p.Table.Totals.AllocBytes)))
	m.Fix = "Use the memory again: a sync.Pool, with the length set to 0 and references cleared before it goes back, or a parameter that the caller hands over to append to."
	if words := p.Reasons(m.Site); len(words) > 0 {
		m.Fix += fmt.Sprintf(" It is on the heap since %s.", words[0])
	}
	m.Confidence = rule.Likely
	if bytes/objects < leastSize {
		m.Fraction = &rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.85} // the pool's own work is a good part of theirs
	}
}
