package loops

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// Invariant reports whether an expression has the same value in each iteration of a loop: it
// combines constants, and variables from outside that the loop does not change, by operators,
// fields, conversions, len and cap.
func Invariant(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	if _, ok := p.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := p.Object(x).(*types.Var)
		if !ok {
			_, isNil := p.Object(x).(*types.Nil)
			return isNil
		}
		inside := loop.Pos() <= v.Pos() && v.Pos() < loop.End()
		return !inside && !syntax.Changes(p, loop, v)
	case *ast.SelectorExpr:
		if p.Info.Selections[x] == nil {
			v, ok := p.Object(x.Sel).(*types.Var)
			return ok && !syntax.Changes(p, loop, v)
		}
		_, field := p.Object(x.Sel).(*types.Var)
		return field && Invariant(p, loop, x.X)
	case *ast.BinaryExpr:
		return Invariant(p, loop, x.X) && Invariant(p, loop, x.Y)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && x.Op != token.AND && Invariant(p, loop, x.X)
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !Invariant(p, loop, elt) {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		_, conversion := p.Conversion(x)
		name := p.CalleeName(x)
		return (conversion || name == "len" || name == "cap") && len(x.Args) == 1 && Invariant(p, loop, x.Args[0])
	}
	return false
}

// Same returns the outermost loop around a node in which an expression has the same value in each
// iteration (see [Invariant]); nil if it has not even in the innermost.
func Same(p *gocode.Place, n ast.Node, e ast.Expr) (outermost ast.Node) {
	for _, loop := range Around(p, n) {
		if !Invariant(p, loop, e) {
			break
		}
		outermost = loop
	}
	return outermost
}

// Unchanged is a stricter [Invariant]: the expression combines constants and local variables of
// basic types that no closure sets and whose address is not taken. What other goroutines or called
// functions could change does not count as unchanged.
func Unchanged(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	return unchanged(p, loop, e, func(*ast.SelectorExpr) bool { return false })
}

// Steady is [Unchanged] that also accepts fields of basic types, x.f, of local variables and
// parameters, if the loop sets no such field, and passes x to no function outside of the standard
// library.
func Steady(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	return unchanged(p, loop, e, func(sel *ast.SelectorExpr) bool { return steadyField(p, loop, sel) })
}

// steadyField reports whether nothing in a loop visibly changes a field.
func steadyField(p *gocode.Place, loop ast.Node, sel *ast.SelectorExpr) bool {
	field, ok := p.Object(sel.Sel).(*types.Var)
	root, _ := syntax.Var(p, sel)
	if !ok || !field.IsField() || !syntax.Local(p, root) {
		return false
	}
	if _, basic := field.Type().Underlying().(*types.Basic); !basic {
		return false
	}
	steady := true
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			steady = n == loop // the function itself is what is called again and again
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				steady = steady && syntax.Named(p, lhs) != field
			}
		case *ast.IncDecStmt:
			steady = steady && syntax.Named(p, n.X) != field
		case *ast.UnaryExpr:
			steady = steady && (n.Op != token.AND || syntax.Named(p, n.X) != field)
		case *ast.CallExpr:
			steady = steady && !gets(p, n, root)
		}
		return steady
	})
	return steady
}

// gets reports whether a call passes a variable, or what it refers to, to a function that may
// change it: one outside of the standard library, or of unknown name.
func gets(p *gocode.Place, call *ast.CallExpr, v *types.Var) bool {
	if _, conversion := p.Conversion(call); conversion {
		return false
	}
	fn := p.Callee(call)
	if fn != nil && fn.Pkg() != nil && fn.Pkg() != p.Pkg && symbol.Standard(fn.Pkg().Path()) {
		return false
	}
	args := call.Args
	if recv := syntax.Receiver(call); recv != nil {
		args = append(args[:len(args):len(args)], recv)
	}
	return slices.ContainsFunc(args, func(arg ast.Expr) bool {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			arg = u.X
		}
		t := p.TypeOf(arg)
		if w, _ := syntax.Var(p, arg); w != v || t == nil {
			return false
		}
		_, basic := t.Underlying().(*types.Basic)
		return !basic
	})
}

func unchanged(p *gocode.Place, loop ast.Node, e ast.Expr, field func(*ast.SelectorExpr) bool) bool {
	if !Invariant(p, loop, e) {
		return false
	}
	sure := true
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok || !sure {
			return sure
		}
		if _, constant := p.Const(x); constant {
			return false
		}
		switch x := x.(type) {
		case *ast.SelectorExpr:
			sure = field(x)
			return false
		case *ast.CompositeLit:
			sure = false
		case *ast.Ident:
			if v, ok := p.Object(x).(*types.Var); ok {
				sure = ownBasic(p, v)
			}
		}
		return sure
	})
	return sure
}

// ownBasic reports whether v is a local variable of a basic type that only the function itself
// sets: no function literal in it assigns to v, and its address is not taken.
func ownBasic(p *gocode.Place, v *types.Var) bool {
	if _, basic := v.Type().Underlying().(*types.Basic); !basic || !syntax.Local(p, v) {
		return false
	}
	own := true
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			own = own && (syntax.Inside(n, v.Pos()) || !syntax.Changes(p, n, v))
		case *ast.UnaryExpr:
			if w, _ := syntax.Var(p, n.X); n.Op == token.AND && w == v {
				own = false
			}
		}
		return own
	})
	return own
}
