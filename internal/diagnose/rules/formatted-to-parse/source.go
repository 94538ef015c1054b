package formattedtoparse

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// parses returns the struct of the package that a function of the package makes of a text; nil for
// other functions.
func parses(p *gocode.Place, call *ast.CallExpr) *types.Named {
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || fn.Signature().Results().Len() == 0 || fn.Signature().Params().Len() != 1 {
		return nil
	}
	t := structOf(fn.Signature().Results().At(0).Type(), p.Pkg)
	if t == nil {
		return nil
	}
	splits := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			splits = splits || funcname.Match(p.CalleeName(call), "strings.Cut*", "strings.Split*", "strings.Fields*", "strings.Index*", "strings.LastIndex*", "strconv.*", "fmt.Sscan*")
		}
		return !splits
	})
	if !splits {
		return nil
	}
	return t
}

// structOf returns the struct of a package that a type is or points to; nil for others.
func structOf(t types.Type, pkg *types.Package) *types.Named {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() != pkg {
		return nil
	}
	if _, is := named.Underlying().(*types.Struct); !is {
		return nil
	}
	return named
}

// formats reports whether a call is of a method of a type, or of a function that gets one, which
// returns a text.
func formats(p *gocode.Place, call *ast.CallExpr, t *types.Named) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() != p.Pkg || fn.Signature().Results().Len() != 1 || !syntax.IsString(p, call) {
		return false
	}
	if recv := fn.Signature().Recv(); recv != nil {
		return len(call.Args) == 0 && structOf(recv.Type(), p.Pkg) == t && whole(p, fn, t, 3)
	}
	return len(call.Args) == 1 && structOf(p.TypeOf(call.Args[0]), p.Pkg) == t && whole(p, fn, t, 3)
}

// whole reports whether a function formats all of a struct: it uses each field, and slices none.
// The path of a parent, or the name of a user without the domain, is another value.
func whole(p *gocode.Place, fn *types.Func, t *types.Named, depth int) bool {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || depth == 0 {
		return false
	}
	used, part, all := map[types.Object]bool{}, false, false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			used[p.Object(n.Sel)] = true
		case *ast.CallExpr: // (t T) Key() string { return t.text() }
			to := p.Callee(n)
			of := syntax.Receiver(n)
			all = all || to != nil && of != nil && syntax.IsString(p, n) && structOf(p.TypeOf(of), p.Pkg) == t && whole(p, to, t, depth-1)
		case *ast.SliceExpr:
			part = true
		}
		return !part
	})
	if part || all {
		return all && !part
	}
	for f := range t.Underlying().(*types.Struct).Fields() {
		if !used[f] {
			return false
		}
	}
	return true
}

// sources returns the expressions that a text comes from: through a variable, what functions of the
// package return, and the keys of a map.
func sources(p *gocode.Place, e ast.Expr, depth int) []ast.Expr {
	if depth == 0 {
		return nil
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := syntax.LocalVar(p, x)
		if v == nil || p.Decl == nil {
			return nil
		}
		if m := keysOf(p, v); m != nil {
			if leaves(p, m) {
				return nil
			}
			return stored(p, m)
		}
		stmt, value := syntax.Declared(p, v)
		if a, ok := stmt.(*ast.AssignStmt); ok && value == nil && len(a.Rhs) == 1 && len(a.Lhs) > 0 && syntax.LocalVar(p, a.Lhs[0]) == v {
			value = a.Rhs[0] // text, ok := it.Next()
		}
		if value == nil {
			return nil
		}
		return sources(p, value, depth-1)
	case *ast.CallExpr:
		return append([]ast.Expr{x}, returned(p, x, depth)...)
	}
	return nil
}

// returned returns what a function of the package, or all methods of the package that an interface
// stands for, return first.
func returned(p *gocode.Place, call *ast.CallExpr, depth int) (all []ast.Expr) {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() != p.Pkg {
		return nil
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl.Name.Name != fn.Name() || !stands(p, decl, fn) {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
					if inner, ok := ast.Unparen(r.Results[0]).(*ast.CallExpr); ok {
						all = append(all, inner)
					} else {
						all = append(all, sources(in, r.Results[0], depth-1)...)
					}
				}
				return true
			})
		}
	}
	return all
}

// stands reports whether a declaration is of a function, or of a method that implements it.
func stands(p *gocode.Place, decl *ast.FuncDecl, fn *types.Func) bool {
	declared, ok := p.Object(decl.Name).(*types.Func)
	if !ok {
		return false
	}
	if declared == fn {
		return true
	}
	recv, of := declared.Signature().Recv(), fn.Signature().Recv()
	if recv == nil || of == nil {
		return false
	}
	i, ok := of.Type().Underlying().(*types.Interface)
	return ok && types.Implements(recv.Type(), i)
}

// keysOf returns the map of whose loop a variable is the key; nil for others.
func keysOf(p *gocode.Place, v *types.Var) (m *types.Var) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if ok && loop.Tok == token.DEFINE && loop.Key != nil && syntax.LocalVar(p, loop.Key) == v {
			if t := p.TypeOf(loop.X); t != nil {
				if _, is := t.Underlying().(*types.Map); is {
					m = syntax.Named(p, loop.X)
				}
			}
		}
		return m == nil
	})
	return m
}

// leaves reports whether the package passes a map on as a whole or returns it: to what
// encodes it, maybe, for which the keys must be texts.
func leaves(p *gocode.Place, m *types.Var) bool {
	found := false
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name := p.CalleeName(n); name != "len" && name != "delete" && name != "clear" && name != "make" {
					found = found || slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return syntax.Named(p, e) == m })
				}
			case *ast.ReturnStmt:
				found = found || slices.ContainsFunc(n.Results, func(e ast.Expr) bool { return syntax.Named(p, e) == m })
			}
			return !found
		})
	}
	return found
}

// stored returns the keys under which the package stores something in a map.
func stored(p *gocode.Place, m *types.Var) (all []ast.Expr) {
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, lhs := range a.Lhs {
				if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && syntax.Named(p, x.X) == m {
					all = append(all, x.Index)
				}
			}
			return true
		})
	}
	return all
}
