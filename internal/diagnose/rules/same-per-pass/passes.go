package sameperpass

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// inside returns the passes of a loop in the function itself: the outermost around a call whose
// variables the call does not depend on.
func (s *search) inside(p *gocode.Place, f *site.Frame, in *inputs, call *ast.CallExpr) *found {
	around := loops.Around(p, call)
	elements := 1.0
	for i, loop := range around {
		n := s.iterations(p, f, loop)
		if slices.Contains(in.over, loop) {
			elements *= n
			continue
		}
		if elements < leastElements || n < leastPasses || i == 0 || !varies(p, loop, around[i-1]) {
			continue
		}
		rest := around[i+1:]
		if slices.ContainsFunc(in.over, func(l ast.Node) bool { return slices.Contains(rest, l) }) || !in.steady(p, loop) {
			return nil
		}
		return &found{elements: elements, passes: n, where: fmt.Sprintf("the loop on line %d", syntax.Line(p, loop.Pos()))}
	}
	return nil
}

// varies reports whether what an expression or a loop does depends on the variable of a loop around
// it, directly or through another variable. Otherwise the outer loop does the same again, which
// other rules report.
func varies(p *gocode.Place, outer, in ast.Node) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			v, ok := p.Object(id).(*types.Var)
			if !ok || v.IsField() || !syntax.Inside(outer, v.Pos()) || syntax.Inside(in, v.Pos()) {
				return true
			}
			found = v.Pos() < loops.Body(outer).Pos()
			if _, value := syntax.Declared(p, v); value != nil && !found {
				found = varies(p, outer, value)
			}
		}
		return !found
	})
	return found
}

// above returns the passes of the loops in the caller, whose calls pass the same elements.
func (s *search) above(p *gocode.Place, r *site.Row, i int, in *inputs, elements float64) *found {
	c, ok := loops.Calling(s.pass.Syntax, r.Stack, i, 1)
	if !ok || !c.Direct || !effects.ChangesNothing(p.Outer()) {
		return nil
	}
	passes, where := 1.0, ""
	for _, loop := range loops.Around(c.Place, c.Call) {
		given := &inputs{}
		for _, v := range in.roots {
			e := argument(p, c.Call, v)
			if v.Parent() == p.Pkg.Scope() && v.Pkg() == c.Place.Pkg {
				given.roots = append(given.roots, v)
				continue
			}
			if e == nil || !loops.FromOutside(c.Place, loop, e) || !given.depends(c.Place, e, 0) || len(given.over) > 0 {
				return several(passes, elements, where)
			}
		}
		if !given.steady(c.Place, loop) || !slices.ContainsFunc(c.Call.Args, func(e ast.Expr) bool { return varies(c.Place, loop, e) }) {
			break
		}
		passes *= s.iterations(c.Place, c.Frame, loop)
		where = fmt.Sprintf("the loop of %s on line %d", c.Name(), syntax.Line(c.Place, loop.Pos()))
	}
	return several(passes, elements, where)
}

// several returns the passes of the loops that were found; nil if there are none.
func several(passes, elements float64, where string) *found {
	if where == "" {
		return nil
	}
	return &found{elements: elements, passes: passes, where: where}
}

// argument returns what a call passes for a parameter or the receiver; nil for other variables.
func argument(p *gocode.Place, call *ast.CallExpr, v *types.Var) ast.Expr {
	sig := syntax.SignatureOf(p.Outer())
	if sig == nil {
		return nil
	}
	if sig.Recv() == v {
		return syntax.Receiver(call)
	}
	if i := syntax.ParamIndex(sig, v); i >= 0 && i < len(call.Args) && !sig.Variadic() {
		return call.Args[i]
	}
	return nil
}

// iterations returns the counted iterations of a loop per entry; 0 when unknown.
func (s *search) iterations(p *gocode.Place, f *site.Frame, loop ast.Node) float64 {
	l, _ := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	return l.Iterations
}

// inputs is what a value depends on.
type inputs struct {
	over  []ast.Node   // the loops whose variables it gets
	roots []*types.Var // variables that no such loop sets
}

// inputsOf returns what a call depends on; nil if that is not visible, or if it may change
// something.
func inputsOf(p *gocode.Place, call *ast.CallExpr) *inputs {
	in := &inputs{}
	if !in.depends(p.Outer(), call, 0) {
		return nil
	}
	return in
}

// depends adds what an expression depends on.
func (in *inputs) depends(p *gocode.Place, e ast.Node, depth int) bool {
	if depth > 12 {
		return false
	}
	fine := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			fine = false
		case *ast.CallExpr:
			fine = fine && harmless(p, n)
		case *ast.Ident:
			if v, ok := p.Object(n).(*types.Var); ok && !v.IsField() {
				fine = fine && in.variable(p, v, depth)
			}
		}
		return fine
	})
	return fine
}

// variable adds what a variable depends on: a loop, its one value, or the variable itself.
func (in *inputs) variable(p *gocode.Place, v *types.Var, depth int) bool {
	stmt, value := syntax.Declared(p, v)
	switch d := stmt.(type) {
	case *ast.RangeStmt:
		return in.loop(p, d, d.X, depth)
	case *ast.AssignStmt:
		if l, ok := syntax.Parent(p, d).(*ast.ForStmt); ok && l.Init == ast.Stmt(d) {
			return in.loop(p, l, nil, depth)
		}
		if value == nil && len(d.Rhs) == 1 {
			value = d.Rhs[0]
		}
	}
	if value != nil && writesOf(p, v) == 1 {
		return in.depends(p, value, depth+1)
	}
	if !slices.Contains(in.roots, v) {
		in.roots = append(in.roots, v)
	}
	return true
}

// writesOf counts the places that set a variable or a part of it, or take its address.
func writesOf(p *gocode.Place, v *types.Var) (n int) {
	for _, id := range syntax.Uses(p, v) {
		set := p.Info.Defs[id] != nil || syntax.Defines(p, id)
		switch x := syntax.Parent(p, id).(type) {
		case *ast.IncDecStmt:
			set = true
		case *ast.UnaryExpr:
			set = x.Op == token.AND
		case *ast.IndexExpr:
			set = x.X == ast.Expr(id) && syntax.Defines(p, x)
		case *ast.SelectorExpr:
			set = syntax.Defines(p, x)
		}
		if set {
			n++
		}
	}
	return n
}

// loop adds a loop, and what its list depends on.
func (in *inputs) loop(p *gocode.Place, loop ast.Node, list ast.Expr, depth int) bool {
	if slices.Contains(in.over, loop) {
		return true
	}
	in.over = append(in.over, loop)
	if list != nil {
		return in.depends(p, list, depth+1)
	}
	head := loop.(*ast.ForStmt)
	if head.Cond == nil || !in.depends(p, head.Cond, depth+1) {
		return false
	}
	return counts(p, head) || in.depends(p, head.Init, depth+1)
}

// counts reports whether a loop counts one by one from a number that an outer loop counts. Where it
// starts decides which elements it visits, for j := i + 1; j < n; j++, but not what it computes of
// each. Loops with other steps, or that start where the last one stopped, divide the elements.
func counts(p *gocode.Place, loop *ast.ForStmt) bool {
	a, ok := loop.Init.(*ast.AssignStmt)
	_, one := loop.Post.(*ast.IncDecStmt)
	if !ok || !one || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	b, ok := p.TypeOf(a.Lhs[0]).(*types.Basic)
	fine := ok && b.Info()&types.IsInteger != 0
	ast.Inspect(a.Rhs[0], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && fine {
			fine = ofHead(p, id)
		}
		return fine
	})
	return fine
}

// ofHead reports whether a variable is set by the head of a loop alone.
func ofHead(p *gocode.Place, id *ast.Ident) bool {
	v, ok := p.Object(id).(*types.Var)
	if !ok || v.IsField() {
		return false
	}
	stmt, _ := syntax.Declared(p, v)
	switch d := stmt.(type) {
	case *ast.RangeStmt:
		return writesOf(p, v) <= 1
	case *ast.AssignStmt:
		head, ok := syntax.Parent(p, d).(*ast.ForStmt)
		if !ok || head.Init != ast.Stmt(d) || writesOf(p, v) > 2 {
			return false
		}
		_, one := head.Post.(*ast.IncDecStmt)
		return one
	}
	return false
}

// steady reports whether nothing in a loop changes the roots, or may change what they refer to.
func (in *inputs) steady(p *gocode.Place, loop ast.Node) bool {
	for _, v := range in.roots {
		if syntax.Changes(p, loop, v) {
			return false
		}
	}
	fine := true
	ast.Inspect(loop, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && fine && in.gets(p, call) {
			fine = harmless(p, call)
		}
		return fine
	})
	return fine
}

// gets reports whether a call gets a root that refers to memory.
func (in *inputs) gets(p *gocode.Place, call *ast.CallExpr) bool {
	for _, e := range append([]ast.Expr{call.Fun}, call.Args...) {
		found := false
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				v, ok := p.Object(id).(*types.Var)
				found = found || ok && slices.Contains(in.roots, v) && !syntax.PlainData(v.Type())
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// harmless reports whether a call visibly changes nothing: a conversion, a function of the package
// that changes only its own variables, or one of another package that returns something and whose
// name suggests no side effect.
func harmless(p *gocode.Place, call *ast.CallExpr) bool {
	if _, ok := p.Conversion(call); ok {
		return true
	}
	switch p.CalleeName(call) {
	case "len", "cap", "min", "max", "real", "imag", "complex":
		return true
	case "":
		return false
	}
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Results().Len() == 0 || effects.Impure(fn) || effects.Changes(fn) || effects.ReadsFiles(fn) {
		return false
	}
	if decl := p.Declaration(fn); decl != nil {
		return decl.Body != nil && effects.ChangesNothing(p.Entry(decl))
	}
	return true
}
