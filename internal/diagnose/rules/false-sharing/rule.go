// Package falsesharing finds goroutines that write to neighbours in memory.
package falsesharing

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// cacheLine in bytes, of amd64 and of most arm64 (runtime/internal/sys, CacheLinePadSize).
	cacheLine = 64
	// leastShare of CPU on the line that writes.
	leastShare = 0.05
)

// Rule is false-sharing.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "false-sharing",
		Kind:  rule.CPU,
		Title: "Goroutines write to the same cache line",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// From nothing, when a processor had the line for itself, to all but the work in a register.
				Fraction: rule.Fraction{Expect: 0.4, Low: 0, High: 0.9},
			},
			Loop: find,
		},
	}
}

const doc = `Processors exchange memory in cache lines of 64 bytes. When each of several
goroutines writes to its own element of a slice of counters, eight of them share
a line, and every write invalidates it for the others, although no variable is
shared: there is no data race and no lock, and more processors are slower.

Keep the running value in a local variable and store it once, after the loop;
that costs nothing and always helps. Where elements must be current, pad them to
a cache line (golang.org/x/sys/cpu.CacheLinePad).

It is fine when elements are written rarely, or larger than a line. The rule is a
hint: what a write costs depends on who wrote before, which no profile tells.

Seen in the field: centrifugal/centrifugo#77, golang/go#59461.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	total := p.Table.Totals.TotalSeconds
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		if place == nil || total <= 0 {
			continue
		}
		m := rule.Match{Site: s, CPU: stacks.Select(s.CPU, stacks.Leaf), Confidence: rule.Hint}
		spent, samples := stacks.Sum(m.CPU)
		share := float64(spent) / 1e9 / total
		if share < leastShare {
			continue
		}
		element, loop := shared(place)
		if element == nil {
			continue
		}
		size := sizes().Sizeof(place.TypeOf(element))
		text := syntax.Text(element)
		m.Cause = fmt.Sprintf("Each iteration of the loop on line %d writes %s, %d bytes beside those of other goroutines that do the same: %d of them share a cache line. The line takes %s of CPU.",
			syntax.Line(place, loop.Pos()), text, size, cacheLine/size, units.Percent(share))
		m.Fix = fmt.Sprintf("Keep the value in a local variable and store it in %s once, after the loop. If it must be current, pad the elements to %d bytes.", text, cacheLine)
		m.Evidence = []rule.Evidence{{What: "CPU of the write", Value: fmt.Sprintf("%s (%d samples)", units.Percent(share), samples), Command: evidence.ListCommand(p, "cpu", s.Function)}}
		matches = append(matches, m)
	}
	return matches, nil
}

// sizes are those of 64-bit platforms, which agree for numbers and structs of them.
func sizes() types.Sizes { return types.SizesFor("gc", "amd64") }

// shared returns the small element of a captured slice or array that a loop of a goroutine writes again and again,
// while other goroutines of the same literal write others; nil when the line does nothing like that.
func shared(p *gocode.Place) (element ast.Expr, loop ast.Node) {
	lit, ok := p.Func.(*ast.FuncLit)
	if !ok || !started(p, lit) {
		return nil, nil
	}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if n == nil || element != nil || syntax.Line(p, n.Pos()) > p.Line || syntax.Line(p, n.End()) < p.Line {
			return false
		}
		var lhs ast.Expr
		switch n := n.(type) {
		case *ast.IncDecStmt:
			lhs = n.X
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || n.Tok == token.DEFINE {
				return true
			}
			lhs = n.Lhs[0]
		default:
			return true
		}
		x, ok := ast.Unparen(lhs).(*ast.IndexExpr)
		if !ok || syntax.Line(p, n.Pos()) != p.Line || !small(p, x) || !captured(p, lit, x.X) {
			return true
		}
		if l := loops.Repeating(p, n); l != nil && loops.FromOutside(p, l, x.Index) && captured(p, lit, x.Index) {
			element, loop = x, l
		}
		return true
	})
	return element, loop
}

// small reports whether an expression is an element of a slice or array, of a few bytes.
func small(p *gocode.Place, x *ast.IndexExpr) bool {
	switch p.TypeOf(x.X).Underlying().(type) {
	case *types.Slice, *types.Array:
		t := p.TypeOf(x)
		if syntax.HoldsPointers(t) {
			return false // and type parameters, of no size
		}
		size := sizes().Sizeof(t)
		return 0 < size && 2*size <= cacheLine
	}
	return false
}

// captured reports whether an expression is a variable from outside of the literal, or a parameter of
// it.
func captured(p *gocode.Place, lit *ast.FuncLit, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := p.Object(id).(*types.Var)
	return ok && !syntax.Inside(lit.Body, v.Pos())
}

// started reports whether a function literal is started as a goroutine in a loop.
func started(p *gocode.Place, lit *ast.FuncLit) bool {
	outer := p.Outer()
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		var call *ast.CallExpr
		switch n := n.(type) {
		case *ast.GoStmt:
			call = n.Call
			if ast.Unparen(call.Fun) != ast.Expr(lit) {
				return true
			}
		case *ast.CallExpr:
			call = n
			if !funcname.Match(p.CalleeName(call), "(*sync.WaitGroup).Go", "(*golang.org/x/sync/errgroup.Group).Go") || ast.Unparen(call.Args[0]) != ast.Expr(lit) {
				return true
			}
		default:
			return !found
		}
		found = found || len(loops.Around(outer, call)) > 0
		return !found
	})
	return found
}
