package rangescanned

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// scan is a loop whose only test compares the same part of each element with bounds.
type scan struct {
	loop  ast.Node
	outer ast.Node // around it, which sets the bounds; nil for none
	over  ast.Expr
	part  ast.Expr // of the element
	test  *ast.IfStmt
	kind  kind
	all   float64 // comparisons for each unit of work
	each  float64 // each time the loop is reached
	hits  float64
}

type kind int

const (
	first  kind = iota // the first element that passes
	ranks              // the number of elements that pass
	ranges             // a few elements between bounds
)

// scanOf recognizes
//
//	for … xs { if v <= x { …; return } }             the first
//	for … { for … xs { if x < v { n++ } } }          a rank
//	for … { for … xs { if a <= x && x < b { … } } }  a range
func scanOf(p *gocode.Place, loop ast.Node) *scan {
	e, ok := loops.ElementsOf(p, loop)
	body := loops.Body(loop).List
	if !ok || len(body) != 1 || numbered(p, e.List) {
		return nil
	}
	test, ok := body[0].(*ast.IfStmt)
	if !ok || test.Init != nil || test.Else != nil || len(test.Body.List) == 0 {
		return nil
	}
	s := &scan{loop: loop, over: e.List, test: test}
	bounds := s.bounds(p, test.Cond, e, nil)
	if bounds == nil || root(p, e.List) == nil {
		return nil
	}
	for _, b := range bounds {
		if !loops.Invariant(p, loop, b) && !otherFields(p, loop, b) {
			return nil // the best so far, or what the loop adds up
		}
	}
	for _, outer := range loops.Around(p, loop) {
		if !loops.Waits(p, outer) && !sets(p, outer, s.part) && loops.FromOutside(p, outer, e.List) && !loops.Invariant(p, outer, bounds[0]) && !syntax.Changes(p, outer, root(p, e.List)) {
			s.outer = outer
		}
	}
	switch {
	case len(bounds) == 1 && leaves(test.Body.List):
		s.kind = first
		return s.ordered(p)
	case s.outer == nil:
		return nil
	case len(bounds) == 1 && counts(p, test.Body.List):
		s.kind = ranks
	default:
		s.kind = ranges
	}
	return s
}

// sets reports whether a loop sets the field of the elements that is compared, so that they change
// their places in the order.
func sets(p *gocode.Place, loop ast.Node, part ast.Expr) bool {
	sel, ok := ast.Unparen(part).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	found := false
	set := func(e ast.Expr) {
		to, ok := ast.Unparen(e).(*ast.SelectorExpr)
		found = found || ok && p.Object(to.Sel) == p.Object(sel.Sel)
	}
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				set(lhs)
			}
		case *ast.IncDecStmt:
			set(n.X)
		}
		return !found
	})
	return found
}

// otherFields reports whether a bound is a field of a variable of which a loop sets other fields
// alone: the sum of a bucket, not its ends.
func otherFields(p *gocode.Place, loop ast.Node, bound ast.Expr) bool {
	v, part := syntax.Var(p, bound)
	if v == nil || !part || !syntax.Local(p, v) {
		return false
	}
	fine := true
	set := func(e ast.Expr) {
		if w, _ := syntax.Var(p, e); w == v {
			_, field := ast.Unparen(e).(*ast.SelectorExpr)
			fine = fine && field && types.ExprString(e) != types.ExprString(bound)
		}
	}
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				set(lhs)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.UnaryExpr:
			fine = fine && n.Op != token.AND
		case *ast.CallExpr:
			fine = fine && !syntax.Mentions(p, n, v)
		}
		return fine
	})
	return fine
}

// numbered reports whether a list is a text.
func numbered(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	return t == nil || syntax.StringOrBytes(t)
}

func root(p *gocode.Place, e ast.Expr) *types.Var {
	v, _ := syntax.Var(p, e)
	return v
}

// bounds returns what a condition compares the same part of the element with; nil if it does
// something else.
func (s *scan) bounds(p *gocode.Place, cond ast.Expr, e loops.Elements, found []ast.Expr) []ast.Expr {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LAND:
			if found = s.bounds(p, c.X, e, found); found == nil {
				return nil
			}
			return s.bounds(p, c.Y, e, found)
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			return s.bound(p, c.X, c.Y, e, found)
		}
	case *ast.UnaryExpr: // !x.Before(v)
		if call, ok := ast.Unparen(c.X).(*ast.CallExpr); ok && c.Op == token.NOT {
			return s.bounds(p, call, e, found)
		}
	case *ast.CallExpr:
		if name := p.CalleeName(c); (name == "(time.Time).Before" || name == "(time.Time).After") && len(c.Args) == 1 {
			return s.bound(p, syntax.Receiver(c), c.Args[0], e, found)
		}
	}
	return nil
}

// bound notes one comparison.
func (s *scan) bound(p *gocode.Place, x, y ast.Expr, e loops.Elements, found []ast.Expr) []ast.Expr {
	part, with := x, y
	if !e.Of(p, part) {
		part, with = y, x
	}
	if !e.Of(p, part) || syntax.Mentions(p, with, variables(e)...) || s.part != nil && types.ExprString(s.part) != types.ExprString(part) {
		return nil
	}
	if _, constant := p.Const(with); constant {
		return nil
	}
	s.part = part
	return append(found, with)
}

func variables(e loops.Elements) (vars []*types.Var) {
	for _, v := range []*types.Var{e.Index, e.Value} {
		if v != nil {
			vars = append(vars, v)
		}
	}
	return vars
}

// leaves reports whether statements end with a return, or leave the loop.
func leaves(list []ast.Stmt) bool { return syntax.Departs(list[len(list)-1], true) }

// counts reports whether statements only add one to a number.
func counts(p *gocode.Place, list []ast.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	inc, ok := list[0].(*ast.IncDecStmt)
	return ok && inc.Tok == token.INC && syntax.LocalVar(p, inc.X) != nil
}

// ordered returns the scan if its list seems to be in order: it is kept, or searched in a loop, has
// numbers, texts or times, and no element of it is ever set.
func (s *scan) ordered(p *gocode.Place) *scan {
	v := syntax.Named(p, s.over)
	if v == nil || s.outer == nil && !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return nil
	}
	elem := syntax.Elem(p.TypeOf(s.over))
	if elem == nil || !syntax.PlainData(elem) || types.ExprString(s.part) != types.ExprString(element(s)) {
		return nil
	}
	set := false
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			for i := 0; ok && i < len(a.Lhs); i++ {
				x, element := ast.Unparen(a.Lhs[i]).(*ast.IndexExpr)
				set = set || element && syntax.Named(p, x.X) == v
			}
			return !set
		})
	}
	if set {
		return nil
	}
	return s
}

// element returns what names the element of the loop itself.
func element(s *scan) ast.Expr {
	if r, ok := s.loop.(*ast.RangeStmt); ok && r.Value != nil {
		return r.Value
	}
	return s.part
}
