package rebuiltperaddition

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// addition is a statement that adds one element to a collection.
type addition struct {
	node ast.Node
	of   map[*types.Var]bool // the variables that have the collection: fields, package and local ones
	text string
}

// additions returns the collections that outlive a function and get one element in it before a
// call: by a statement of its own, or by a function of the package that it calls.
func additions(p *gocode.Place, call *ast.CallExpr) (found []addition) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || n.Pos() >= call.Pos() {
			return false
		}
		if _, ok := n.(*ast.FuncLit); ok && !syntax.Within(n, call) {
			return false
		}
		to := addedBelow(p, n, 0)
		if v := added(p, n); v != nil {
			to = append(to, v)
		}
		if len(to) == 0 || n.End() > call.Pos() || manyTimes(p, n, call) || syntax.Exclusive(p, n, call) {
			return true
		}
		for _, v := range to {
			if emptied(p, syntax.Body(p), v, n.Pos(), 0) {
				continue
			}
			a := addition{node: n, of: map[*types.Var]bool{v: true}, text: v.Name()}
			a.into(p, call)
			if a.lasting(p) {
				found = append(found, a)
			}
		}
		return true
	})
	return found
}

// emptied reports whether a function empties a collection before a position, itself or in a
// function of the package that it calls: what it adds then is all that the collection has.
func emptied(p *gocode.Place, body ast.Node, v *types.Var, before token.Pos, depth int) (found bool) {
	const deepest = 1
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || found || before.IsValid() && n.Pos() >= before {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if of := syntax.Named(p, to); of != nil && of.Origin() == v && len(n.Lhs) == len(n.Rhs) && empty(p, n.Rhs[i]) {
					found = true
				}
			}
		case *ast.CallExpr:
			if p.CalleeName(n) == "clear" && len(n.Args) == 1 {
				of := syntax.Named(p, n.Args[0])
				found = of != nil && of.Origin() == v
			}
			decl := p.Declaration(p.Callee(n))
			if depth < deepest && decl != nil && decl.Body != nil {
				if in := p.Entry(decl); in != nil {
					found = found || emptied(in, decl.Body, v, token.NoPos, depth+1)
				}
			}
		}
		return !found
	})
	return found
}

// empty reports whether an expression drops the elements of a collection: nil, x[:0]. A new one may
// get those of the old one.
func empty(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.SliceExpr:
		n, ok := syntax.ConstInt(p, syntax.OrBad(e.High))
		return ok && n == 0
	}
	return false
}

// manyTimes reports whether a loop that does not contain the call repeats an addition.
func manyTimes(p *gocode.Place, n ast.Node, call *ast.CallExpr) bool {
	for _, loop := range loops.Around(p, n) {
		if !syntax.Within(loop, call) {
			return true
		}
	}
	return false
}

// added returns the collection to which a statement adds one element: xs = append(xs, x),
// x.m[k] = v; nil for others.
func added(p *gocode.Place, n ast.Node) *types.Var {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return nil
	}
	if to, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok {
		v := syntax.Named(p, to.X)
		if v == nil {
			return nil
		}
		if _, isMap := v.Type().Underlying().(*types.Map); !isMap {
			return nil
		}
		return v.Origin()
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "append" || len(call.Args) != 2 || call.Ellipsis.IsValid() {
		return nil
	}
	v := syntax.Named(p, a.Lhs[0])
	if v == nil || bytesOf(v.Type()) {
		return nil
	}
	if from := syntax.Named(p, call.Args[0]); from == nil && a.Tok == token.ASSIGN {
		return nil
	}
	return v.Origin()
}

func bytesOf(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return true
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

// addedBelow returns the fields and package variables to which a function of the package, which a
// call calls, adds one element.
func addedBelow(p *gocode.Place, n ast.Node, depth int) (found []*types.Var) {
	const deepest = 2
	call, ok := n.(*ast.CallExpr)
	if !ok || depth >= deepest {
		return nil
	}
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil {
		return nil
	}
	in := p.Entry(decl)
	if in == nil {
		return nil
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok || n == nil {
			return false
		}
		to := addedBelow(in, n, depth+1)
		if v := added(in, n); v != nil {
			to = append(to, v)
		}
		for _, v := range to {
			if (v.IsField() || v.Parent() == in.Pkg.Scope()) && len(loops.Around(in, n)) == 0 {
				found = append(found, v)
			}
		}
		return true
	})
	return found
}

// into adds the fields and variables that get the collection between the addition and the call.
func (a *addition) into(p *gocode.Place, call *ast.CallExpr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || n.Pos() < a.node.Pos() || n.Pos() >= call.Pos() {
			return n != nil && n.Pos() < call.Pos()
		}
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && a.is(p, n.Value) {
				if field, ok := p.Object(key).(*types.Var); ok && field.IsField() {
					a.of[field.Origin()] = true
				}
			}
		case *ast.AssignStmt:
			for i, rhs := range n.Rhs {
				if len(n.Lhs) == len(n.Rhs) && a.is(p, rhs) {
					if v := syntax.Named(p, n.Lhs[i]); v != nil {
						a.of[v.Origin()] = true
					}
				}
			}
		}
		return true
	})
}

func (a *addition) is(p *gocode.Place, e ast.Expr) bool {
	v := syntax.Named(p, e)
	return v != nil && a.of[v.Origin()]
}

// lasting reports whether the collection outlives the function: it is a field or package variable.
func (a *addition) lasting(p *gocode.Place) bool {
	for v := range a.of {
		if v.IsField() || v.Parent() == p.Pkg.Scope() {
			return true
		}
	}
	return false
}
