package wholeperchange

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastAdditions is the minimum number of additions with which a loop builds a collection.
	leastAdditions = 24
	// mostReturns is the number of functions between the loop and the one that copies.
	mostReturns = 2
)

// building is a loop that builds a collection of copies, each of the last one with an element more:
// t = t.with(k, v). Nothing else has the values in between.
type building struct {
	place     *gocode.Place
	loop      ast.Node
	target    ast.Expr
	additions float64 // each time that the loop runs
}

// built returns the loop for which most copies are made; nil for none.
func (c *copied) built(m *finder.Case) (found *building) {
	if c.returned == nil {
		return nil
	}
	mostly := c.mostly(m, mostReturns+1, func(stack []*site.Frame) bool {
		b := c.buildingAt(m, stack)
		if b != nil && (found == nil || b.additions > found.additions) {
			found = b
		}
		return b != nil
	})
	if !mostly {
		return nil
	}
	return found
}

// buildingAt follows a copy from the function that returns it, at the start of a stack, to a loop.
func (c *copied) buildingAt(m *finder.Case, stack []*site.Frame) *building {
	in, original := m.Place, c.returned
	for level := 0; level <= mostReturns && level+1 < len(stack); level++ {
		f := stack[level+1]
		p := m.Pass.Place(&site.Site{Frame: *f})
		if p == nil || p.Decl == nil {
			return nil
		}
		call := loops.CallTo(p, stack[level].Function)
		if call == nil {
			return nil
		}
		if lit, ok := syntax.FuncAround(p, call).(*ast.FuncLit); ok && lit != p.Func { // on one line
			own := *p
			own.Func, p = lit, &own
		}
		passed := given(in, call, original)
		if passed == nil {
			return nil
		}
		if to := syntax.AssignedTo(p, call); to != nil {
			return buildingOf(m.Pass, f, p, call, to, passed)
		}
		_, returned := syntax.Parent(p, call).(*ast.ReturnStmt)
		v := syntax.LocalVar(p, passed)
		if !returned || v == nil || !syntax.Param(p, v) {
			return nil
		}
		in, original = p, v
	}
	return nil
}

// buildingOf returns the loop around a call whose result replaces a local variable that the call
// gets; nil for none.
func buildingOf(pass *rule.Pass, f *site.Frame, p *gocode.Place, call *ast.CallExpr, to, passed ast.Expr) *building {
	v := syntax.LocalVar(p, to)
	if v == nil || !syntax.Same(p, to, passed) {
		return nil
	}
	runs, ok := evidence.ExecutionsAt(pass, p, call.Pos())
	if !ok {
		return nil
	}
	for _, loop := range loops.Around(p, call) {
		if syntax.Inside(loop, v.Pos()) || !alone(p, loop, call, v) {
			return nil
		}
		l, ok := pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
		if ok && l.Entries > 0 && runs.PerUnit >= leastAdditions*l.Entries {
			return &building{place: p, loop: loop, target: to, additions: runs.PerUnit / l.Entries}
		}
	}
	return nil
}

// alone reports whether a loop sets a variable with one call only, and otherwise looks into it at
// most: nothing keeps a value that the next iteration replaces.
func alone(p *gocode.Place, loop ast.Node, call *ast.CallExpr, v *types.Var) bool {
	around := syntax.FuncAround(p, loop)
	for _, id := range syntax.Uses(p, v) {
		if !syntax.Within(loop, id) {
			continue
		}
		if syntax.FuncAround(p, id) != around {
			return false
		}
		switch n := syntax.Parent(p, id).(type) {
		case *ast.AssignStmt:
			if n != syntax.Parent(p, call) {
				return false
			}
		case *ast.CallExpr:
			if n != call && p.CalleeName(n) != "len" {
				return false
			}
		case *ast.IndexExpr:
			if n.X != ast.Expr(id) {
				return false
			}
		case *ast.SelectorExpr:
			_, basic := typeOf(p, n).(*types.Basic)
			called, ok := syntax.Parent(p, n).(*ast.CallExpr)
			if !basic && (!ok || ast.Unparen(called.Fun) != n) {
				return false
			}
		case *ast.RangeStmt, *ast.BinaryExpr, *ast.ReturnStmt:
		default:
			return false
		}
	}
	return true
}

// describe fills in a match for copies of which each has so many elements.
func (b *building) describe(m *finder.Case, c *copied, what string, elements float64) {
	name, target := syntax.FuncName(m.Place), syntax.Text(b.target)
	where := syntax.Where(b.place, b.loop.Pos())
	n := b.additions
	m.Cause = fmt.Sprintf("%s copies the %s %s as a whole to add to it, and the loop at %s replaces %s by the copy in each iteration: %s additions copy about %s elements (n²/2). Nothing else has the values in between.",
		name, what, syntax.Text(c.from), where, target, units.Number(n), units.Count(int64(n*n/2+0.5)))
	m.Fix = fmt.Sprintf("Add to one %s in place in the loop at %s: with a method that changes %s, or with a local %[1]s of which %[3]s is made once, after the loop. If others have the value that the loop starts with, copy it once, before the loop.",
		what, where, target)
	most := 1 - 2/(elements+1)
	m.Fraction = &rule.Fraction{Expect: 0.95 * most, Low: 0.5 * most, High: 1}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s copies per %s, %s in each run of the loop", units.Number(c.copies), m.Pass.Manifest.Unit(), units.Number(n))})
}
