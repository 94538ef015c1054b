// Package falsesharing finds goroutines that write to elements of one cache line.
package falsesharing

import (
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
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// cacheLine in bytes, of amd64 and of most arm64 (runtime/internal/sys, CacheLinePadSize).
	cacheLine = 64
	// leastShare of CPU that the write must take.
	leastShare = 0.05
)

// Rule is false-sharing.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "false-sharing",
		Kind:  rule.CPU,
		Title: "Goroutines write to the same cache line",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// From nothing, if one processor had the cache line for itself, to all but the work
				// in a register.
				Fraction: rule.Fraction{Expect: 0.4, Low: 0, High: 0.9},
			},
			Start: finder.Sites(own),
			Judge: judge,
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

It is fine when elements are written rarely, or are larger than a line. Findings
are hints: what a write costs depends on which processor wrote last, and no
profile shows that.

Seen in the field: centrifugal/centrifugo#77, golang/go#59461.`

// own selects the CPU of the line itself.
func own(s *site.Site) rule.Match {
	return rule.Match{Site: s, CPU: stacks.Select(s.CPU, stacks.Leaf)}
}

func judge(c *finder.Case) bool {
	total := c.Pass.Table.Totals.TotalSeconds
	spent, samples := stacks.Sum(c.CPU)
	share := float64(spent) / 1e9 / total
	if total <= 0 || share < leastShare {
		return false
	}
	element, loop := shared(c.Place)
	if element == nil {
		return false
	}
	size := syntax.Sizes().Sizeof(c.Place.TypeOf(element))
	text := syntax.Text(element)
	c.Confidence = rule.Hint
	c.Cause = fmt.Sprintf("Each iteration of the loop on line %d writes %s, whose %d bytes are next to those that other goroutines write: %d of them share a cache line. The line takes %s of CPU.",
		syntax.Line(c.Place, loop.Pos()), text, size, cacheLine/size, units.Percent(share))
	c.Fix = fmt.Sprintf("Keep the value in a local variable and store it in %s once, after the loop. If it must be current, pad the elements to %d bytes.", text, cacheLine)
	c.Evidence = []rule.Evidence{{
		What:    "CPU of the write",
		Value:   fmt.Sprintf("%s (%d samples)", units.Percent(share), samples),
		Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function),
	}}
	return true
}

// shared returns the small element of a captured slice or array that every iteration of a loop
// writes, in a function literal of which several goroutines run; nil when the line writes none.
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

// small reports whether an element of a slice or array has at most half the size of a cache line.
func small(p *gocode.Place, x *ast.IndexExpr) bool {
	switch p.TypeOf(x.X).Underlying().(type) {
	case *types.Slice, *types.Array:
		t := p.TypeOf(x)
		if syntax.HoldsPointers(t) {
			return false // holds for type parameters too, whose size is unknown
		}
		size := syntax.Sizes().Sizeof(t)
		return 0 < size && 2*size <= cacheLine
	}
	return false
}

// captured reports whether an expression is a variable from outside the literal, or its parameter.
func captured(p *gocode.Place, lit *ast.FuncLit, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := p.Object(id).(*types.Var)
	return ok && !syntax.Inside(lit.Body, v.Pos())
}

// started reports whether a loop starts goroutines that run the function literal.
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
