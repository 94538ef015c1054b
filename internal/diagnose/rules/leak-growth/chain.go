package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// chained returns what retains what a line makes if each new value refers to the one before, and
// the newest is kept: then all stay. Nothing in the package cuts the chain.
func chained(p *gocode.Place) (found *keep) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || found != nil {
			return false
		}
		if syntax.Line(p, n.Pos()) > p.Line || syntax.Line(p, n.End()) < p.Line {
			return true
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = linked(p, n)
		case *ast.AssignStmt:
			found = wrapped(p, n)
		}
		return found == nil
	})
	return found
}

// linked is chained for a literal with a field for the value before: &job{prev: q.last}.
func linked(p *gocode.Place, lit *ast.CompositeLit) *keep {
	t := named(p.TypeOf(lit))
	if t == nil || t.Obj().Pkg() != p.Pkg {
		return nil
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok || named(typeOf(p, kv.Value)) != t {
			continue
		}
		id, ok := kv.Key.(*ast.Ident)
		if !ok {
			continue
		}
		last := syntax.Origin(p, kv.Value)
		to := kept(p, last)
		if to == nil || cuts(p, p.Object(id), to) {
			continue
		}
		at := becomes(p, to, lit)
		if at == nil {
			continue
		}
		name := to.text(last)
		return &keep{
			words: fmt.Sprintf("Each refers to the one before (%s: %s), and %s is set to the new one (%s): through the newest, all stay.", id.Name, name, name, syntax.Where(p, at.Pos())),
			fix:   fmt.Sprintf("Set %s to nil when the one before is no longer needed, or keep only the part of it that is.", id.Name),
		}
	}
	return nil
}

// becomes returns the assignment of a function that sets an owner to what a literal creates; nil
// for none.
func becomes(p *gocode.Place, to *owner, lit *ast.CompositeLit) (found *ast.AssignStmt) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found != nil || len(a.Lhs) != len(a.Rhs) {
			return found == nil
		}
		for i, lhs := range a.Lhs {
			from := syntax.Origin(p, a.Rhs[i])
			if ref, ok := from.(*ast.UnaryExpr); ok {
				from = ast.Unparen(ref.X)
			}
			if to.is(p, lhs) && from == ast.Expr(lit) {
				found = a
			}
		}
		return true
	})
	return found
}

// cuts reports whether the package sets a field again, or an owner to nil.
func cuts(p *gocode.Place, field types.Object, of *owner) (found bool) {
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return !found
			}
			for i, lhs := range a.Lhs {
				v := syntax.Named(p, lhs)
				found = found || field != nil && v != nil && types.Object(v) == field
				found = found || of.is(p, lhs) && len(a.Lhs) == len(a.Rhs) && p.Info.Types[a.Rhs[i]].IsNil()
			}
			return !found
		})
	}
	return found
}

// wrapped is chained for what wraps the value before and replaces it: s.ctx =
// context.WithValue(s.ctx, k, v), or a function literal that calls the one before.
func wrapped(p *gocode.Place, a *ast.AssignStmt) *keep {
	for i, lhs := range a.Lhs {
		to := kept(p, lhs)
		if to == nil || len(a.Lhs) != len(a.Rhs) && (i > 0 || len(a.Rhs) != 1) || cuts(p, nil, to) {
			continue
		}
		before := func(e ast.Expr) bool { return to.is(p, syntax.Origin(p, e)) }
		name, how := to.text(lhs), ""
		switch value := syntax.Origin(p, a.Rhs[i]).(type) {
		case *ast.CallExpr:
			if !funcname.Match(p.CalleeName(value), "context.With*", "errors.Join", "fmt.Errorf", "net/http.HandlerFunc") {
				continue
			}
			for _, arg := range value.Args {
				if before(arg) {
					how = syntax.Text(value.Fun)
				}
			}
		case *ast.FuncLit:
			if captures(p, value, before) {
				how = "a function literal that uses it"
			}
		}
		if how != "" {
			return &keep{
				words: fmt.Sprintf("Each execution wraps the value of %s (%s) and puts the result into %s: the chain grows by one each time, and all of it stays.", name, how, name),
				fix:   fmt.Sprintf("Wrap a value that stays the same instead of the last result: keep the first %s apart, or use a local variable for what belongs to one request.", name),
			}
		}
	}
	return nil
}

// captures reports whether a function literal uses a variable from outside that has a wanted value.
func captures(p *gocode.Place, lit *ast.FuncLit, wanted func(ast.Expr) bool) (found bool) {
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && !found {
			v := syntax.LocalVar(p.Outer(), id)
			found = v != nil && !syntax.Inside(lit, v.Pos()) && wanted(id)
		}
		return !found
	})
	return found
}
