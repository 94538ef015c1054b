package rule

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Place returns the syntax around a site; nil when its source is not loaded.
func (p *Pass) Place(s *site.Site) *gocode.Place {
	if p.Syntax == nil {
		return nil
	}
	place, ok := p.Syntax.At(s.File, s.Line)
	if !ok {
		return nil
	}
	return place
}

// Body is the node that a place's questions are about: the function around the
// line, or the file for a package variable's initialiser.
func Body(p *gocode.Place) ast.Node {
	if p.Func != nil {
		return p.Func
	}
	return p.File
}

// Line returns the line of a position.
func Line(p *gocode.Place, pos token.Pos) int { return p.Fset.Position(pos).Line }

// Calls returns the calls that the compiler places on the line: those whose
// opening parenthesis stands there (cmd/compile/internal/syntax/nodes.go), outermost first.
// [gocode.Place.Calls] has more: calls that merely begin or end on the line.
func Calls(p *gocode.Place) []*ast.CallExpr {
	var calls []*ast.CallExpr
	ast.Inspect(Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && Line(p, call.Lparen) == p.Line {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}

// CallsOf returns the calls on the line of functions that fit one of the
// patterns, by their full names ("fmt.Sprintf", "(*log.Logger).Printf").
func CallsOf(p *gocode.Place, patterns ...string) []*ast.CallExpr {
	var calls []*ast.CallExpr
	for _, call := range Calls(p) {
		if Named(p.CalleeName(call), patterns...) {
			calls = append(calls, call)
		}
	}
	return calls
}

// ConstString returns the value of a constant string.
func ConstString(p *gocode.Place, e ast.Expr) (string, bool) {
	v, ok := p.Const(e)
	if !ok || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// IsString tells whether an expression is a string, or of a type parameter that
// only strings fit.
func IsString(p *gocode.Place, e ast.Expr) bool {
	t := p.Info.TypeOf(e)
	return t != nil && stringType(t)
}

func stringType(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Union:
		for term := range u.Terms() {
			if !stringType(term.Type()) {
				return false
			}
		}
		return true
	case *types.Interface:
		if _, ok := t.(*types.TypeParam); !ok {
			return false
		}
		for one := range u.EmbeddedTypes() {
			if stringType(one) {
				return true
			}
		}
	}
	return false
}

// Var returns the variable that an expression names: a local, a package
// variable, or for x.f and x[i] the variable x at its root. part is true when
// the expression is more than the variable itself.
func Var(p *gocode.Place, e ast.Expr) (v *types.Var, part bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ = p.Info.ObjectOf(x).(*types.Var)
			return v, part
		case *ast.SelectorExpr:
			if p.Info.Selections[x] == nil { // package.Var
				v, _ = p.Info.Uses[x.Sel].(*types.Var)
				return v, part
			}
			e, part = x.X, true
		case *ast.IndexExpr:
			e, part = x.X, true
		case *ast.StarExpr:
			e, part = x.X, true
		default:
			return nil, part
		}
	}
}

// Same tells whether two expressions name the same variable, field or element,
// written the same way.
func Same(p *gocode.Place, a, b ast.Expr) bool {
	va, _ := Var(p, a)
	vb, _ := Var(p, b)
	return va != nil && va == vb && types.ExprString(ast.Unparen(a)) == types.ExprString(ast.Unparen(b))
}

// Uses returns the identifiers in the function of the place that stand for v.
func Uses(p *gocode.Place, v types.Object) []*ast.Ident {
	var uses []*ast.Ident
	root := Body(p)
	if p.Decl != nil {
		root = p.Decl // a variable captured by a closure is used outside it too
	}
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.Info.ObjectOf(id) == v {
			uses = append(uses, id)
		}
		return true
	})
	return uses
}

// Assigned returns the expressions that the function assigns to v, one to one.
func Assigned(p *gocode.Place, v types.Object) []ast.Expr {
	var values []ast.Expr
	var root ast.Node = Body(p)
	if p.Decl != nil {
		root = p.Decl
	}
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && p.Object(id) == v
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) && is(lhs) {
					values = append(values, n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) && is(name) {
					values = append(values, n.Values[i])
				}
			}
		}
		return true
	})
	return values
}

// FuncName is how a sentence names the function around a place: "Send", "a function in Send".
func FuncName(p *gocode.Place) string {
	if p.Decl == nil {
		return "a package variable's initialiser"
	}
	if p.Func != p.Decl {
		return "a function in " + p.Decl.Name.Name
	}
	return p.Decl.Name.Name
}
