package cachestampede

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// store is where a function keeps a value.
type store struct {
	to   ast.Expr      // the field, element or variable; the receiver of call, nil if it has none
	call *ast.CallExpr // that keeps the value as an argument; nil for an assignment
}

// objects returns the fields and package variables that a store changes, and the marks that are
// set beside them.
func (s store) objects(p *gocode.Place) (own, marks []types.Object) {
	if s.to != nil {
		if obj := holder(p, s.to); obj != nil {
			own = append(own, obj)
		}
	}
	if s.call == nil {
		return own, siblings(p, s.to)
	}
	if decl := p.Declaration(p.Callee(s.call)); decl != nil && decl.Body != nil {
		for obj := range usesOf(p.Entry(decl), token.NoPos, 2).set {
			own = append(own, obj)
		}
	}
	return own, nil
}

// siblings returns the other fields that are set from the position of x.f on, with the same x: e.at
// beside e.value.
func siblings(p *gocode.Place, e ast.Expr) (all []types.Object) {
	own, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && a.End() > e.Pos() {
			for _, lhs := range a.Lhs {
				if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && syntax.Same(p, sel.X, own.X) {
					all = append(all, p.Object(sel.Sel))
				}
			}
		}
		return true
	})
	return all
}

// stores returns where a function keeps the result of a call: the functions and methods that it
// passes it to, and the elements, fields and package variables that it assigns it to, as it is, in
// a new struct, or encoded.
func stores(p *gocode.Place, call *ast.CallExpr) (all []store) {
	const most = 8
	o := p.Outer()
	var holders []*types.Var // local variables with the result
	follow := func(e ast.Expr) {
		s, local := sink(o, e)
		if s != nil {
			all = append(all, *s)
		}
		if v := syntax.LocalVar(o, local); v != nil && !syntax.IsError(v.Type()) && !slices.Contains(holders, v) && len(holders) < most {
			holders = append(holders, v)
		}
	}
	follow(call)
	for i := 0; i < len(holders); i++ {
		for _, use := range syntax.Reads(o, holders[i]) {
			if use.Pos() >= call.End() {
				follow(use)
			}
		}
	}
	return all
}

// sink returns what keeps the value of an expression, or the local variable that gets it, nil for
// none. It follows a value into a struct, a conversion and an encoder.
func sink(p *gocode.Place, e ast.Expr) (kept *store, local ast.Expr) {
	is := func(x ast.Expr) bool { return ast.Unparen(x) == ast.Unparen(e) }
	for {
		switch x := syntax.Parent(p, e).(type) {
		case *ast.KeyValueExpr:
			if !is(x.Value) {
				return nil, nil
			}
			e = x
		case *ast.CompositeLit:
			e = x
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil, nil
			}
			e = x
		case *ast.TypeAssertExpr:
			e = x
		case *ast.CallExpr:
			_, conversion := p.Conversion(x)
			switch {
			case is(x.Fun):
				return nil, nil
			case conversion || encodes(p, x):
				e = x
			case keeps(p, x):
				return &store{to: syntax.Receiver(x), call: x}, nil
			default:
				return nil, nil
			}
		case *ast.AssignStmt:
			return assigned(p, x, slices.IndexFunc(x.Rhs, is))
		case *ast.ValueSpec:
			return nil, syntax.AssignedTo(p, e)
		default:
			return nil, nil
		}
	}
}

// assigned returns what the i-th value of an assignment is kept in: a field, an element or a
// package variable, or the local variable that gets it or has it as a part.
func assigned(p *gocode.Place, a *ast.AssignStmt, i int) (kept *store, local ast.Expr) {
	if i < 0 {
		return nil, nil
	}
	to := a.Lhs[i : i+1]
	if len(a.Rhs) == 1 {
		to = a.Lhs
	}
	for _, lhs := range to {
		if id, ok := ast.Unparen(lhs).(*ast.Ident); ok && !outlasts(p.Object(id)) {
			continue
		}
		if root, part := syntax.Var(p, lhs); part && made(p, root) {
			return nil, rootOf(lhs)
		}
		return &store{to: lhs}, nil
	}
	return nil, to[0]
}

// made reports whether a variable is a struct, slice or map that the function itself makes.
func made(p *gocode.Place, v *types.Var) bool {
	stmt, value := syntax.Declared(p, v)
	switch x := ast.Unparen(value).(type) {
	case nil:
		spec, ok := stmt.(*ast.ValueSpec)
		return ok && len(spec.Values) == 0
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, ok := ast.Unparen(x.X).(*ast.CompositeLit)
		return ok && x.Op == token.AND
	case *ast.CallExpr:
		name := p.CalleeName(x)
		return name == "make" || name == "new"
	}
	return false
}

// rootOf returns x of x.f, x[i] and *x.
func rootOf(e ast.Expr) ast.Expr {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return x
		}
	}
}

// encodes reports whether a call makes of its argument the text or the copy that a cache keeps.
func encodes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	return fn != nil && hasPrefix(fn.Name(), "Marshal", "Encode", "Compress", "Clone", "Copy", "New", "Pack", "Serialize")
}

// keeps reports whether a call may store an argument: it is of a method, or of a function of the
// package that sets something outside of it, and it has no result or it is named so. A call whose
// error is used may just as well check or read the argument.
func keeps(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil && !sets(p, p.Declaration(fn)) || answers(p, call) {
		return false
	}
	results := fn.Signature().Results()
	return statement(p, call) || results.Len() == 0 || storing(fn.Name())
}

// answers reports whether a call is of a method of a writer, or of what belongs to one request:
// what gets the result there is whoever asked for it, and no cache.
func answers(p *gocode.Place, call *ast.CallExpr) bool {
	to := syntax.Receiver(call)
	if to == nil || p.TypeOf(to) == nil {
		return false
	}
	t := p.TypeOf(to)
	if contextual(t) || types.TypeString(t, nil) == "net/http.Header" {
		return true
	}
	write, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, "Write")
	fn, ok := write.(*types.Func)
	return ok && fn.Signature().Params().Len() == 1 && bytesType(fn.Signature().Params().At(0).Type())
}

func bytesType(t types.Type) bool {
	return types.Identical(t.Underlying(), types.NewSlice(types.Typ[types.Byte]))
}

// contextual reports whether a type belongs to one request, by its name: it keeps nothing for
// others.
func contextual(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && slices.ContainsFunc([]string{"Context", "Request", "Response", "Session", "Transaction", "Tx"}, func(s string) bool { return strings.HasSuffix(n.Obj().Name(), s) })
}

func statement(p *gocode.Place, call *ast.CallExpr) bool {
	switch syntax.Parent(p, call).(type) {
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	}
	return false
}

// storing reports whether a function stores what it gets, by its name.
func storing(name string) bool {
	return hasPrefix(name, "Set", "Put", "Store", "Add", "Save", "Keep", "Remember", "Cache", "Insert", "Update", "Replace", "Swap", "CompareAndSwap", "LoadOrStore", "GetOrSet", "Fill")
}

// asking reports whether a method looks into a cache, by its name. A context of a request has such
// methods, too.
func asking(fn *types.Func) bool {
	return !contextual(fn.Signature().Recv().Type()) && hasPrefix(fn.Name(), "Get", "Load", "Lookup", "Peek", "Find", "Cached", "Has", "Contains", "Fresh", "Valid")
}

// hasPrefix reports whether a name, exported or not, starts with one of some words.
func hasPrefix(name string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(name) >= len(w) && strings.EqualFold(name[:len(w)], w)
	})
}

// sets reports whether a function assigns to an element, a field or a package variable, or passes a
// value to a method.
func sets(p *gocode.Place, decl *ast.FuncDecl) (found bool) {
	if decl == nil || decl.Body == nil {
		return false
	}
	in := p.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return outlives(in, e) })
		case *ast.CallExpr:
			fn := in.Callee(n)
			found = found || len(n.Args) > 1 && fn != nil && fn.Signature().Recv() != nil && fn.Signature().Results().Len() == 0
		}
		return !found
	})
	return found
}

// outlives reports whether an assigned expression is an element, a field or a package variable.
func outlives(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
		return true
	case *ast.Ident:
		return outlasts(p.Object(x))
	}
	return false
}
