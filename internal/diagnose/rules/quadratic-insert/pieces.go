package quadraticinsert

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// leastPieces is the minimum mean number of elements that a line copies of a slice that it puts
// together from pieces: several lines share the copying.
const leastPieces = 24

// reassembles judges a line that belongs to an insertion or a removal which puts a new slice
// together from what is before and what is after an element: a copy of xs[:i], x, and xs[i:].
func reassembles(c *finder.Case) bool {
	a := assembled(c.Place)
	if a == nil {
		return false
	}
	xs := a.xs
	c.CPU, c.Allocs = stacks.Select(c.CPU, grows), stacks.Select(c.Allocs, grows)
	c.Live = nil
	bytes, objects := stacks.Sum(c.Allocs)
	elem := elemOf(c.Place, xs)
	if objects < leastCopies || elem == nil || syntax.Generic(elem) {
		return false
	}
	elements := float64(bytes) / float64(objects) / float64(max(1, syntax.Sizes().Sizeof(elem)))
	if elements < leastPieces {
		return false
	}
	name := syntax.Text(xs)
	c.Cause = fmt.Sprintf("%s copies %s to a new slice, in pieces, each time that it inserts or removes an element: %s times on this line, with room for %s elements on average. n changes of n elements copy n² of them, and drop as many slices.",
		syntax.FuncName(c.Place), name, units.Count(objects), units.Number(float64(int64(elements))))
	c.Fix = fmt.Sprintf("Change %s in place: slices.Insert, slices.Delete and slices.Replace move only the elements after the place, as one block, and allocate only when the capacity is used up. If %[1]s is read less often than it changes, append and sort it before it is read.", name)
	c.Confidence = rule.Likely
	return true
}

// assembly is a slice that is put together from pieces of itself.
type assembly struct {
	p          *gocode.Place
	xs         ast.Expr
	lines      []int
	fresh      bool // the elements go to a new array
	head, tail bool // it has what is before a place, and what is after it
}

// assembled returns the assembly that the line of a place is a part of; nil for none.
func assembled(p *gocode.Place) (found *assembly) {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if found != nil || !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 || set.Tok != token.ASSIGN || elemOf(p, set.Lhs[0]) == nil {
			return found == nil
		}
		a := &assembly{p: p, xs: set.Lhs[0]}
		a.base(set.Rhs[0], 0)
		if !a.fresh || !a.head || !a.tail || !slices.Contains(a.lines, p.Line) {
			return true
		}
		if keeps(p, a.xs) || entry(p, a.xs) || growing(p, set) != nil {
			found = a
		}
		return found == nil
	})
	return found
}

// keeps reports whether a slice outlives the function: it is a field or a package variable.
func keeps(p *gocode.Place, xs ast.Expr) bool {
	v, part := syntax.Var(p, xs)
	return v != nil && (part || v.Parent() == p.Pkg.Scope())
}

// most is the largest number of variables that are followed.
const most = 6

// base examines the operand that append adds to.
func (a *assembly) base(e ast.Expr, depth int) {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		a.call(e, depth)
	case *ast.SliceExpr:
		if syntax.Same(a.p, e.X, a.xs) && e.Slice3 && e.High != nil {
			a.fresh, a.head = true, true // xs[:i:i], which append copies
		}
	case *ast.Ident:
		v := syntax.LocalVar(a.p, e)
		if v == nil || depth >= most || syntax.Same(a.p, e, a.xs) {
			return
		}
		for _, value := range syntax.Assigned(a.p, v) {
			call, ok := ast.Unparen(value).(*ast.CallExpr)
			if ok && len(call.Args) > 0 && syntax.LocalVar(a.p, call.Args[0]) == v { // v = append(v, x)
				a.added(call, depth+1)
				continue
			}
			a.base(value, depth+1)
		}
	}
}

// call examines a call that makes a slice.
func (a *assembly) call(call *ast.CallExpr, depth int) {
	switch a.p.CalleeName(call) {
	case "append":
		if syntax.EmptySlice(a.p, call.Args[0]) {
			a.fresh = true
		} else if lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
			a.fresh = a.fresh || a.head
		} else {
			a.base(call.Args[0], depth+1)
		}
		a.added(call, depth)
	case "slices.Concat":
		a.fresh = true
		a.line(call)
		for _, arg := range call.Args {
			a.piece(arg, depth+1)
		}
	case "slices.Clone":
		a.fresh = true
		a.line(call)
		a.piece(call.Args[0], depth+1)
	}
}

// added examines what a call of append adds.
func (a *assembly) added(call *ast.CallExpr, depth int) {
	a.line(call)
	if len(call.Args) == 2 && call.Ellipsis.IsValid() {
		a.piece(call.Args[1], depth+1)
	}
}

func (a *assembly) line(call *ast.CallExpr) {
	a.lines = append(a.lines, syntax.Line(a.p, call.Lparen))
}

// piece examines a slice whose elements are added.
func (a *assembly) piece(e ast.Expr, depth int) {
	if depth >= most {
		return
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		if !syntax.Same(a.p, e.X, a.xs) {
			return
		}
		from := e.Low != nil && !is(a.p, e.Low, 0)
		a.head = a.head || !from && e.High != nil
		a.tail = a.tail || from && e.High == nil
	case *ast.CallExpr:
		if a.p.CalleeName(e) == "append" {
			a.line(e)
			for i, arg := range e.Args {
				if i == 0 || e.Ellipsis.IsValid() {
					a.piece(arg, depth+1)
				}
			}
		}
	case *ast.Ident:
		v := syntax.LocalVar(a.p, e)
		if v == nil || syntax.Same(a.p, e, a.xs) {
			return
		}
		for _, value := range syntax.Assigned(a.p, v) {
			a.piece(value, depth+1)
		}
	}
}
