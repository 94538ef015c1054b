package rule

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// Runs tells whether n runs again and again in a program's life as far as the syntax
// shows: not in a package variable's initialiser, nor straight in main or init.
func Runs(p *gocode.Place, n ast.Node) bool {
	if p.Decl == nil {
		return false
	}
	once := p.Decl.Recv == nil && (p.Decl.Name.Name == "init" || p.Decl.Name.Name == "main" && p.Pkg.Name() == "main")
	return !once || p.Func != p.Decl || len(Loops(p, n)) > 0
}

// Local tells whether v is a variable of the function around the place.
func Local(p *gocode.Place, v *types.Var) bool {
	return v != nil && !v.IsField() && p.Decl != nil && p.Decl.Pos() <= v.Pos() && v.Pos() < p.Decl.End()
}

// Origin follows an expression to where its value was made: through parentheses, a
// package variable that is never set again, and a local one that is assigned
// once, alone or as the first result of a call. It returns e itself when there is nothing to follow.
func Origin(p *gocode.Place, e ast.Expr) ast.Expr {
	for range 8 { // variables may be declared by each other
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return ast.Unparen(e)
		}
		v, ok := p.Object(id).(*types.Var)
		if !ok {
			return id
		}
		if initial := p.Initial(v); initial != nil {
			e = initial
			continue
		}
		values := Assigned(p, v)
		if len(values) == 0 {
			values = firstOf(p, v)
		}
		if !Local(p, v) || len(values) != 1 || writes(p, p.Decl, v) > 1 {
			return id
		}
		e = values[0]
	}
	return ast.Unparen(e)
}

// firstOf returns the calls whose first result, of several, the function assigns to v.
func firstOf(p *gocode.Place, v *types.Var) (calls []ast.Expr) {
	if p.Decl == nil {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) < 2 || len(a.Rhs) != 1 {
			return true
		}
		if id, ok := a.Lhs[0].(*ast.Ident); ok && p.Object(id) == v {
			if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// writes counts where v is declared with a value, assigned, ranged into or has its address taken, below root.
// A parameter counts as one.
func writes(p *gocode.Place, root ast.Node, v types.Object) int {
	n := 0
	count := func(e ast.Expr) {
		if e == nil {
			return
		}
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && p.Object(id) == v {
			n++
		}
	}
	ast.Inspect(root, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for _, lhs := range x.Lhs {
				count(lhs)
			}
		case *ast.ValueSpec:
			for _, name := range x.Names {
				if len(x.Values) > 0 {
					count(name)
				}
			}
		case *ast.RangeStmt:
			count(x.Key)
			count(x.Value)
		case *ast.IncDecStmt:
			count(x.X)
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				count(x.X)
			}
		case *ast.Field:
			for _, name := range x.Names {
				count(name)
			}
		}
		return true
	})
	return n
}

// Unchanged tells whether an expression has the same value in every round of a
// loop, for sure: it is made of constants and of local variables of basic types, declared outside
// of the loop, that nothing in the loop and no closure sets. What other goroutines or
// called functions could change is not taken for unchanged.
func Unchanged(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	same := true
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok || !same {
			return same
		}
		if _, constant := p.Const(x); constant {
			return false
		}
		switch x := x.(type) {
		case *ast.ParenExpr, *ast.BinaryExpr:
		case *ast.UnaryExpr:
			same = x.Op != token.AND && x.Op != token.ARROW
		case *ast.Ident:
			same = steady(p, loop, x)
		case *ast.CallExpr: // a conversion of a constant or of another unchanged value
			_, same = p.Conversion(x)
			for _, arg := range x.Args {
				same = same && Unchanged(p, loop, arg)
			}
			return false
		default:
			same = false
		}
		return same
	})
	return same
}

// steady tells whether an identifier is a type, or a local variable of a basic type that the loop leaves alone.
func steady(p *gocode.Place, loop ast.Node, id *ast.Ident) bool {
	v, ok := p.Object(id).(*types.Var)
	if !ok {
		_, isType := p.Object(id).(*types.TypeName)
		return isType
	}
	if _, basic := v.Type().Underlying().(*types.Basic); !basic || !Local(p, v) || within(loop, v.Pos()) {
		return false
	}
	if writes(p, loop, v) > 0 {
		return false
	}
	for _, use := range Uses(p, v) { // a closure that sets it may run in the loop
		for _, n := range enclosing(p.Decl, use) {
			if lit, ok := n.(*ast.FuncLit); ok && !within(lit, v.Pos()) && writes(p, lit, v) > 0 {
				return false
			}
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND {
				return false
			}
		}
	}
	return true
}

// within tells whether a position lies in a node.
func within(n ast.Node, pos token.Pos) bool { return n.Pos() <= pos && pos < n.End() }

// Within tells whether a node lies in another.
func Within(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// enclosing returns the nodes below root that hold n, outermost first.
func enclosing(root, n ast.Node) []ast.Node {
	var path []ast.Node
	ast.Inspect(root, func(x ast.Node) bool {
		if x == nil || !Within(x, n) {
			return false
		}
		if x != n {
			path = append(path, x)
		}
		return true
	})
	return path
}

// AllConst tells whether all arguments of a call are constants, or constants converted to a slice.
func AllConst(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if conv, ok := ast.Unparen(arg).(*ast.CallExpr); ok && len(conv.Args) == 1 {
			if _, is := p.Conversion(conv); is {
				arg = conv.Args[0]
			}
		}
		if _, ok := p.Const(arg); !ok {
			return false
		}
	}
	return len(call.Args) > 0 && !call.Ellipsis.IsValid()
}

// Receiver returns x of a call x.Method(…); nil for other calls.
func Receiver(call *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// Text is an expression as the source has it, cut to fit a sentence.
func Text(e ast.Expr) string { return Short(types.ExprString(ast.Unparen(e))) }

// Result returns the variable that takes the first result of a call; nil when none does.
func Result(p *gocode.Place, call *ast.CallExpr) *types.Var {
	path := p.Enclosing(call)
	if len(path) == 0 {
		return nil
	}
	a, ok := path[0].(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || a.Rhs[0] != call {
		return nil
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.Object(id).(*types.Var)
	return v
}
