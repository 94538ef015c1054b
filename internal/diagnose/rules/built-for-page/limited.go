package builtforpage

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// inLimited reports whether an expression is in a loop over the first elements.
func (u *uses) inLimited(e ast.Expr) bool {
	return slices.ContainsFunc(u.limited, func(loop ast.Node) bool { return syntax.Within(loop, e) })
}

// untilLimit notes a loop over the list that ends when it has enough, whatever the next element is.
func (u *uses) untilLimit(loop ast.Node, list ast.Expr) bool {
	test := u.limit(loop, list)
	if test == nil {
		return false
	}
	n, ok := u.iterations(loop)
	if !ok {
		return false
	}
	u.any = true
	u.limited = append(u.limited, loop)
	u.keep(loop, cut{size: n, known: true, limit: true, text: "until " + syntax.Short(syntax.Text(test))})
	return true
}

// iterated notes the part that a slice expression cuts off at a limit that is not known, if the
// variable is set to that part and a loop goes through it after that.
func (u *uses) iterated(n *ast.SliceExpr) bool {
	v := syntax.LocalVar(u.place, n.X)
	if v == nil || u.shortened != n.Pos() {
		return false
	}
	found := false
	ast.Inspect(syntax.Body(u.place), func(x ast.Node) bool {
		loop, ok := x.(*ast.RangeStmt)
		if !ok || found || loop.Pos() < n.End() || syntax.LocalVar(u.place, loop.X) != v {
			return !found
		}
		size, ok := u.iterations(loop)
		if found = ok; ok {
			u.keep(n, cut{size: size, known: true, limit: true})
		}
		return !found
	})
	return found
}

// iterations returns how many iterations a loop has each time that it is reached.
func (u *uses) iterations(loop ast.Node) (float64, bool) {
	at := u.place.Fset.Position(loop.Pos())
	ran, ok := u.pass.Counts.Loop(u.place.Pkg.Path(), at.Filename, at.Line)
	return ran.Iterations, ok && ran.Entries > 0 && ran.Iterations > 0
}

// limit returns the condition by which a loop ends when it has enough: one operand of its own
// condition, of which there are several, or that of an if statement that leaves it.
func (u *uses) limit(loop ast.Node, list ast.Expr) ast.Expr {
	p := u.place
	if f, ok := loop.(*ast.ForStmt); ok && f.Cond != nil {
		if all := syntax.Conjuncts(f.Cond); len(all) > 1 {
			for _, e := range all {
				if counts(p, loop, e) && !mentions(p, e, list) {
					return e
				}
			}
		}
	}
	for _, stmt := range loops.Body(loop).List {
		s, ok := stmt.(*ast.IfStmt)
		if !ok || s.Init != nil || s.Else != nil || len(s.Body.List) == 0 || !syntax.Departs(s.Body.List[len(s.Body.List)-1], true) {
			continue
		}
		if counts(p, loop, s.Cond) {
			return s.Cond
		}
	}
	return nil
}

// counts reports whether a condition compares a number that is counted with a limit: neither comes
// from an element of the list.
func counts(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || !slices.Contains([]token.Token{token.EQL, token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) {
		return false
	}
	return counted(p, loop, b.X) && counted(p, loop, b.Y)
}

// counted reports whether an expression is a constant, a variable, or the length of one, that does
// not depend on an element.
func counted(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	if b, ok := t.Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
		return false
	}
	if _, ok := syntax.ConstInt(p, e); ok {
		return true
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if p.CalleeName(call) != "len" {
			return false
		}
		e = call.Args[0]
	}
	v, _ := syntax.Var(p, e)
	if v == nil || syntax.HasIndex(e) {
		return false
	}
	r, ok := loop.(*ast.RangeStmt)
	isKey := ok && r.Key != nil && syntax.LocalVar(p, r.Key) == v
	return isKey || !syntax.Inside(loop, v.Pos()) || inInit(loop, v)
}

// inInit reports whether a loop declares a variable before its first iteration.
func inInit(loop ast.Node, v *types.Var) bool {
	f, ok := loop.(*ast.ForStmt)
	return ok && f.Init != nil && syntax.Inside(f.Init, v.Pos())
}

// conditionOf returns the for statement whose condition has an expression; nil for none.
func conditionOf(p *gocode.Place, e ast.Expr) ast.Node {
	for _, loop := range loops.Around(p, e) {
		if f, ok := loop.(*ast.ForStmt); ok && f.Cond != nil && syntax.Within(f.Cond, e) {
			return f
		}
	}
	return nil
}

// mentions reports whether a condition has the variable of the list.
func mentions(p *gocode.Place, e, list ast.Expr) bool {
	v := syntax.LocalVar(p, list)
	return v != nil && syntax.Mentions(p, e, v)
}
