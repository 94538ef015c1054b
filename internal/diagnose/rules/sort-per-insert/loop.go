package sortperinsert

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastIterations is the minimum mean number of iterations of a loop that sorts.
const leastIterations = 4

// looped is a sort in a loop that only makes its list longer.
type looped struct {
	list       string
	head       int // line of the loop
	iterations float64
}

// inLoop finds sorts of a list in a loop that appends to it and does not read it: only the last
// sort counts.
func (s *search) inLoop() finder.Line {
	p := s.pass
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *looped { return loopedAt(p, f, place) })
	at := func(r *site.Row) int {
		if s.caller(r) >= 0 {
			return -1 // one element each time
		}
		for i := 1; i < len(r.Stack); i++ {
			k := r.Stack[i].Owner.Kind
			if (k == gocode.Main || k == gocode.Dependency) && sorts.Sorting(r.Stack[i-1].Function) && lines.At(r.Stack[i]) != nil {
				return i
			}
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(at), Judge: func(c *finder.Case) bool {
		l := lines.At(&c.Site.Frame)
		if l == nil {
			return false
		}
		c.Cause = fmt.Sprintf("The loop on line %d appends to %s and sorts all of it in each of %s iterations, although nothing in the loop reads it: only the last sort counts.",
			l.head, l.list, units.Number(l.iterations))
		c.Fix = fmt.Sprintf("Sort %s once, after the loop. If what is appended is sorted already, merge the parts instead.", l.list)
		most := 1 - 2/(l.iterations+1) // of the parts that are sorted, if all are of one length
		c.Fraction = &rule.Fraction{Expect: 0.9 * most, Low: 0.5 * most, High: 1}
		return true
	}}
}

// loopedAt returns the sort on a line, if its loop only makes the list longer; nil for others.
func loopedAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *looped {
	if p.Counts == nil {
		return nil
	}
	for _, call := range syntax.Calls(place) {
		xs := sorts.List(place, call)
		if xs == nil {
			continue
		}
		v, loop := syntax.LocalVar(place, xs), place.LoopAround(call)
		if v == nil || loop == nil || syntax.Inside(loop, v.Pos()) || !onlyGrows(place, loop, call, v) {
			continue
		}
		head := syntax.Line(place, loop.Pos())
		if l, ok := p.Counts.Loop(f.Owner.Package, f.File, head); ok && l.Iterations >= leastIterations {
			return &looped{syntax.Text(xs), head, l.Iterations}
		}
	}
	return nil
}

// onlyGrows reports whether a loop uses a list only to append to it, and in the call that sorts it.
func onlyGrows(p *gocode.Place, loop ast.Stmt, sort *ast.CallExpr, v *types.Var) bool {
	appends := 0
	for _, id := range syntax.Uses(p, v) {
		if !syntax.Inside(loop, id.Pos()) || syntax.Within(sort, id) {
			continue
		}
		grows := false
		for _, n := range p.Enclosing(id) {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && syntax.LocalVar(p, a.Lhs[0]) == v {
				call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
				grows = ok && p.CalleeName(call) == "append" && syntax.LocalVar(p, call.Args[0]) == v
				if id.Pos() == a.Lhs[0].Pos() {
					appends++
				} else if grows {
					grows = ast.Unparen(call.Args[0]).Pos() == id.Pos()
				}
				break
			}
		}
		if !grows {
			return false
		}
	}
	return appends > 0
}
