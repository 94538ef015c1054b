package goroutineleak

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// channel returns the field of a channel that goroutines receive from, also where they get it as an
// argument; nil for others.
func channel(p *rule.Pass, place *gocode.Place, from ast.Expr) *types.Var {
	if v := syntax.Named(place, from); v != nil && v.IsField() {
		return v
	} else if v == nil || p.Syntax == nil {
		return nil
	} else if given := flow.Passed(p.Syntax, place, v); len(given) == 1 && given[0].Pkg == place.Pkg {
		if v := syntax.Named(given[0].Place, given[0].Value); v != nil && v.IsField() {
			return v
		}
	}
	return nil
}

// cancels returns the statements of the package that cancel a context whose end goroutines wait
// for: calls of the cancel function that is kept in a field.
func cancels(p *rule.Pass, place *gocode.Place, from ast.Expr) (all []ending) {
	done, ok := ast.Unparen(from).(*ast.CallExpr)
	if !ok || !funcname.Match(place.CalleeName(done), "(context.Context).Done") {
		return nil
	}
	ctx := syntax.Named(place, syntax.Receiver(done))
	if ctx == nil {
		return nil
	}
	of := map[*types.Var]bool{ctx: true}
	for _, given := range flow.Passed(p.Syntax, place, ctx) {
		if v := syntax.Named(given.Place, given.Value); v != nil {
			of[v] = true
		}
	}
	fields := map[*types.Var]bool{}
	eachStatement(place, func(n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 {
			return
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || !funcname.Match(place.CalleeName(call), "context.With*") {
			return
		}
		derived, cancel := syntax.Named(place, a.Lhs[0]), syntax.Named(place, a.Lhs[1])
		if cancel == nil || !of[derived] && !stored(place, derived, of) {
			return
		}
		if cancel.IsField() {
			fields[cancel] = true
		}
		for _, f := range storedIn(place, cancel) {
			fields[f] = true
		}
	})
	eachCall(place, func(decl *ast.FuncDecl, call *ast.CallExpr) {
		if v := syntax.Named(place, call.Fun); v != nil && fields[v] {
			all = append(all, ending{place, decl, call.Pos(), "cancels " + syntax.Text(syntax.Receiver(done))})
		}
	})
	return all
}

// stored reports whether a variable is put into one of some fields.
func stored(place *gocode.Place, v *types.Var, fields map[*types.Var]bool) bool {
	for _, f := range storedIn(place, v) {
		if fields[f] {
			return true
		}
	}
	return false
}

// storedIn returns the fields that get the value of a local variable, in a literal or by an
// assignment.
func storedIn(place *gocode.Place, v *types.Var) (fields []*types.Var) {
	if v == nil || v.IsField() {
		return nil
	}
	eachStatement(place, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, rhs := range n.Rhs {
				if len(n.Lhs) != len(n.Rhs) || syntax.Named(place, rhs) != v {
					continue
				}
				if f := syntax.Named(place, n.Lhs[i]); f != nil && f.IsField() {
					fields = append(fields, f)
				}
			}
		case *ast.CompositeLit:
			t, ok := types.Unalias(place.TypeOf(n)).Underlying().(*types.Struct)
			for i, e := range n.Elts {
				switch kv, named := e.(*ast.KeyValueExpr); {
				case !ok:
				case named && syntax.Named(place, kv.Value) == v:
					if id, ok := kv.Key.(*ast.Ident); ok {
						if f, ok := place.Object(id).(*types.Var); ok {
							fields = append(fields, f)
						}
					}
				case !named && syntax.Named(place, e) == v && i < t.NumFields():
					fields = append(fields, t.Field(i))
				}
			}
		}
	})
	return fields
}

// eachStatement visits the nodes of all functions of a package.
func eachStatement(place *gocode.Place, visit func(ast.Node)) {
	for _, f := range place.Files() {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					visit(n)
					return true
				})
			}
		}
	}
}
