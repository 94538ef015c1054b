package wholekeyfetched

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is how many functions that return the elements are followed.
const deepest = 3

// use is what a program does with all elements of a key.
type use int

const (
	other   use = iota
	element     // looks some up by their keys or places
	member      // asks whether one is there
	number      // counts them
	part        // takes some of them
)

// useOf returns what is done with the result of a call, and the function that does it; other if all
// elements may be used.
func (s *search) useOf(p *gocode.Place, call *ast.CallExpr, depth int) (use, string) {
	outer := p.Outer()
	v := syntax.Result(p, call)
	if v == nil {
		if returns(outer, call) {
			return s.useOfReturned(p, depth)
		}
		return direct(outer, call), syntax.FuncName(p)
	}
	all, where := other, ""
	for _, id := range syntax.Reads(p, v) {
		u, at := direct(outer, id), syntax.FuncName(p)
		if u == other && returns(outer, id) {
			u, at = s.useOfReturned(p, depth)
		}
		if u == other {
			return other, ""
		}
		if u != number || all == other { // a test of the length goes with the rest
			all, where = u, at
		}
	}
	return all, where
}

// returns reports whether an expression is the first result of its function.
func returns(p *gocode.Place, e ast.Expr) bool {
	r, ok := syntax.Parent(p, e).(*ast.ReturnStmt)
	return ok && ast.Unparen(r.Results[0]) == e
}

// useOfReturned is useOf for what the function around a place returns, if all of its callers use
// that in the same way.
func (s *search) useOfReturned(p *gocode.Place, depth int) (use, string) {
	self := declared(p)
	if self == nil || depth == 0 {
		return other, ""
	}
	all, where := other, ""
	is := func(fn *types.Func) bool { return fn.FullName() == self.FullName() || awaited.Implements(self, fn) }
	for _, place := range s.pass.Syntax.Calls(is) {
		for _, call := range syntax.Calls(place) {
			if fn := place.Callee(call); fn == nil || !is(fn) {
				continue
			}
			u, at := s.useOf(place, call, depth-1)
			if u == other || all != other && u != all {
				return other, ""
			}
			all, where = u, at
		}
	}
	return all, where
}

// direct returns what the code around an expression does with all elements.
func direct(p *gocode.Place, e ast.Expr) use {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(n.X) == e && len(loops.Around(p, n)) == 0 && !syntax.Defines(p, n) {
			return element
		}
	case *ast.SliceExpr:
		if n.High != nil {
			return part
		}
	case *ast.CallExpr:
		switch p.CalleeName(n) {
		case "slices.Contains", "slices.Index":
			return member
		}
		if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "len" {
			return number
		}
	case *ast.RangeStmt:
		if n.X == e && searches(n) {
			return member
		}
	}
	return other
}

// searches reports whether a loop only tests its elements, and stops at one.
func searches(n *ast.RangeStmt) bool {
	if len(n.Body.List) != 1 {
		return false
	}
	test, ok := n.Body.List[0].(*ast.IfStmt)
	return ok && test.Else == nil && syntax.Leaves(test.Body)
}
