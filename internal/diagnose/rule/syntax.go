package rule

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"

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

// Path returns the nodes around n, from its parent outwards to the function of the place.
func Path(p *gocode.Place, n ast.Node) []ast.Node {
	whole, _ := astutil.PathEnclosingInterval(p.File, n.Pos(), n.End())
	body := Body(p)
	var path []ast.Node
	inside := false
	for _, x := range whole {
		if inside {
			path = append(path, x)
		}
		if x == n {
			inside = true
		}
		if x == body {
			break
		}
	}
	return path
}

// Line returns the line of a position.
func Line(p *gocode.Place, pos token.Pos) int { return p.Fset.Position(pos).Line }

// Calls returns the calls that the compiler places on the line: those whose
// opening parenthesis stands there (cmd/compile/internal/syntax/nodes.go), outermost first.
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
		if name := CalleeName(p, call); name != "" && Named(name, patterns...) {
			calls = append(calls, call)
		}
	}
	return calls
}

// CalleeName returns the full name of the function that a call calls, as
// types.Func.FullName writes it; "" for a conversion, a builtin or a function value.
func CalleeName(p *gocode.Place, call *ast.CallExpr) string {
	if f, ok := typeutil.Callee(p.Info, call).(*types.Func); ok {
		return f.Origin().FullName()
	}
	return ""
}

// Builtin tells whether a call calls the named builtin function.
func Builtin(p *gocode.Place, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := p.Info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// Conversion tells whether a call converts its argument to a type.
func Conversion(p *gocode.Place, call *ast.CallExpr) bool {
	tv, ok := p.Info.Types[call.Fun]
	return ok && tv.IsType() && len(call.Args) == 1
}

// Const returns the constant value of an expression; nil when it has none.
func Const(p *gocode.Place, e ast.Expr) constant.Value { return p.Info.Types[e].Value }

// ConstString returns the value of a constant string.
func ConstString(p *gocode.Place, e ast.Expr) (string, bool) {
	v := Const(p, e)
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// IsString tells whether an expression is a string.
func IsString(p *gocode.Place, e ast.Expr) bool {
	t := p.Info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
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
