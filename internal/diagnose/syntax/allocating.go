package syntax

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// Allocating returns the nodes of the line that may allocate themselves, as far as syntax and types
// show: literals behind a pointer or of slices and maps, make, new and append, conversions and
// concatenations of strings, function literals, method values, conversions to interfaces, go, and
// defer in loops.
func Allocating(p *gocode.Place) []ast.Node {
	var found []ast.Node
	called := map[ast.Expr]bool{} // methods that are called, not bound
	ast.Inspect(Body(p), func(n ast.Node) bool {
		if n == nil || Line(p, n.Pos()) > p.Line || Line(p, n.End()) < p.Line {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			called[ast.Unparen(call.Fun)] = true
		}
		if sel, ok := n.(*ast.SelectorExpr); allocatesAt(p, n) || ok && !called[sel] && Binds(p, sel) && Line(p, sel.Pos()) == p.Line {
			found = append(found, n)
		}
		return true
	})
	return found
}

// Binds reports whether a selector that is not called is a method value: a function that has its
// receiver bound.
func Binds(p *gocode.Place, sel *ast.SelectorExpr) bool {
	s := p.Info.Selections[sel]
	return s != nil && s.Kind() == types.MethodVal
}

// AllocatesOnly reports whether only the given nodes (or nodes in them) allocate on the line, so
// that the line's own allocations are theirs.
func AllocatesOnly(p *gocode.Place, ours ...ast.Node) bool {
	for _, n := range Allocating(p) {
		mine := false
		for _, o := range ours {
			mine = mine || n == o || ast.Unparen(asExpr(o)) == n
		}
		if !mine {
			return false
		}
	}
	return true
}

func asExpr(n ast.Node) ast.Expr { e, _ := n.(ast.Expr); return e }

func allocatesAt(p *gocode.Place, n ast.Node) bool {
	on := func(pos token.Pos) bool { return Line(p, pos) == p.Line }
	switch n := n.(type) {
	case *ast.FuncLit:
		return on(n.Pos()) && n != p.Func && !calledAtOnce(p, n)
	case *ast.GoStmt:
		return on(n.Pos())
	case *ast.DeferStmt:
		return on(n.Pos()) && p.LoopAround(n) != nil // outside of loops its record is on the stack
	case *ast.CompositeLit:
		if !on(n.Lbrace) {
			return false
		}
		switch p.TypeOf(n).Underlying().(type) {
		case *types.Slice, *types.Map:
			return true
		}
		return false
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(n.X).(*ast.CompositeLit)
		return n.Op == token.AND && lit && on(n.Pos())
	case *ast.BinaryExpr:
		_, constant := p.Const(n)
		return n.Op == token.ADD && IsString(p, n) && !constant && on(n.OpPos)
	case *ast.CallExpr:
		return on(n.Lparen) && callAllocates(p, n)
	}
	return false
}

// calledAtOnce reports whether a function literal is called where it is written, or deferred
// outside of loops: the compiler then keeps it on the stack.
func calledAtOnce(p *gocode.Place, lit *ast.FuncLit) bool {
	call, ok := Parent(p, lit).(*ast.CallExpr)
	if !ok || ast.Unparen(call.Fun) != ast.Expr(lit) {
		return false
	}
	switch s := Parent(p, call).(type) {
	case *ast.GoStmt:
		return false
	case *ast.DeferStmt:
		return p.LoopAround(s) == nil
	}
	return true
}

// callAllocates reports whether a call allocates on its own line: builtins, conversions of
// strings, arguments for interface parameters.
func callAllocates(p *gocode.Place, call *ast.CallExpr) bool {
	switch p.CalleeName(call) {
	case "make", "new", "append":
		return true
	}
	if t, ok := p.Conversion(call); ok {
		if len(call.Args) != 1 {
			return false
		}
		if types.IsInterface(t) {
			return Boxes(p, call.Args[0])
		}
		_, constant := p.Const(call)
		return !constant && IsString(p, call) != IsString(p, call.Args[0])
	}
	return len(Boxed(p, call)) > 0
}

// Boxed returns the arguments of a call whose conversion to an interface allocates.
func Boxed(p *gocode.Place, call *ast.CallExpr) []ast.Expr {
	sig, ok := signature(p, call)
	if !ok {
		return nil
	}
	var boxed []ast.Expr
	for i, arg := range call.Args {
		if t := paramType(sig, i, call.Ellipsis.IsValid()); t != nil && isInterface(t) && Boxes(p, arg) {
			boxed = append(boxed, arg)
		}
	}
	return boxed
}

func signature(p *gocode.Place, call *ast.CallExpr) (*types.Signature, bool) {
	t := p.TypeOf(call.Fun)
	if t == nil {
		return nil, false
	}
	sig, ok := t.Underlying().(*types.Signature)
	return sig, ok
}

// paramType returns the type that the i-th argument is passed as.
func paramType(sig *types.Signature, i int, spread bool) types.Type {
	n := sig.Params().Len()
	if n == 0 {
		return nil
	}
	if sig.Variadic() && i >= n-1 {
		t := sig.Params().At(n - 1).Type()
		if s, ok := t.Underlying().(*types.Slice); ok && !spread {
			return s.Elem()
		}
		return t
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

// isInterface is types.IsInterface without type parameters, whose values are not boxed.
func isInterface(t types.Type) bool {
	_, param := types.Unalias(t).(*types.TypeParam)
	return !param && types.IsInterface(t)
}

// Boxes reports whether converting an expression to an interface allocates. Constants, interfaces,
// pointers, empty values, booleans and single bytes do not.
func Boxes(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if _, constant := p.Const(e); constant || t == nil || isInterface(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return false
	case *types.Struct:
		return u.NumFields() > 0
	case *types.Basic:
		switch u.Kind() {
		case types.UnsafePointer, types.UntypedNil, types.Bool, types.UntypedBool, types.Int8, types.Uint8:
			return false
		}
	}
	return true
}
