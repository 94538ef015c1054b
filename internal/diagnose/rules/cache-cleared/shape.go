package cachecleared

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/caching"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// ofShape returns the cache that the function around a line fills on a miss, if the line computes
// the value and other code of the package empties the map or replaces the cache; nil for none.
func ofShape(p *rule.Pass, _ *site.Frame, place *gocode.Place) *cache {
	sh, ok := caching.Around(place)
	if !ok {
		sh, _, ok = caching.InPlace(place)
	}
	if !ok || !sh.Computes(place) {
		return nil
	}
	v := syntax.Named(place, sh.Cache)
	if v == nil || !v.IsField() && v.Parent() != place.Pkg.Scope() {
		return nil
	}
	c := &cache{pass: p, cache: sh.Cache, lookups: count(p, place, sh.Lookup), stores: count(p, place, sh.Store)}
	for _, n := range clearings(place, v) {
		c.clears += count(p, place, n)
		if c.clear == "" {
			c.clear, c.where = cleared(n), syntax.Where(place, n.Pos())
		}
	}
	return c
}

func count(p *rule.Pass, place *gocode.Place, n ast.Node) float64 {
	e, _ := evidence.ExecutionsAt(p, place, n.Pos())
	return e.PerUnit
}

// cleared returns the text of a statement that empties a cache.
func cleared(n ast.Node) string {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return "The assignment to " + syntax.Text(n.Lhs[0])
	case *ast.RangeStmt:
		return "The loop over " + syntax.Text(n.X)
	case *ast.CallExpr:
		return syntax.Text(n)
	}
	return ""
}

// clearings returns the nodes of the package that empty the map in a variable, or set the variable
// to a new value: clear(m), a loop that deletes each key, m = map[K]V{}, c = newCache(). They are
// not those that prepare an object.
func clearings(p *gocode.Place, v *types.Var) (found []ast.Node) {
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || prepares(fn.Name.Name) {
				continue
			}
			in := p.Entry(fn)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if empties(in, n, v) {
					found = append(found, n)
				}
				return true
			})
		}
	}
	return found
}

// prepares reports whether a function, by its name, makes an object ready for use or for its next
// use: what it empties belonged to another.
func prepares(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"new", "init", "reset", "release", "free", "close", "setup", "make", "acquire", "get"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func empties(p *gocode.Place, n ast.Node, v *types.Var) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return p.CalleeName(n) == "clear" && len(n.Args) == 1 && syntax.Named(p, n.Args[0]) == v
	case *ast.RangeStmt:
		return syntax.Named(p, n.X) == v && deletesAll(p, n, v)
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN || len(n.Lhs) != 1 || syntax.Named(p, n.Lhs[0]) != v || !fresh(p, n.Rhs[0]) {
			return false
		}
		of, _ := syntax.Var(p, n.Lhs[0])
		return of != nil && (!syntax.Local(p, of) || syntax.Param(p, of)) && !first(p, n, v)
	}
	return false
}

// deletesAll reports whether a loop over a map only deletes its keys.
func deletesAll(p *gocode.Place, loop *ast.RangeStmt, v *types.Var) bool {
	if len(loop.Body.List) != 1 || loop.Key == nil {
		return false
	}
	s, ok := loop.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	return ok && p.CalleeName(call) == "delete" && len(call.Args) == 2 && syntax.Named(p, call.Args[0]) == v && syntax.Same(p, call.Args[1], loop.Key)
}

// fresh reports whether an expression is a new value: a literal without elements, make, new, or
// what a constructor returns.
func fresh(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		_, isMap := p.TypeOf(e).Underlying().(*types.Map)
		return !isMap || len(e.Elts) == 0
	case *ast.UnaryExpr:
		return e.Op == token.AND && fresh(p, e.X)
	case *ast.CallExpr:
		if name := p.CalleeName(e); name == "make" || name == "new" {
			return true
		}
		fn := p.Callee(e)
		return fn != nil && strings.HasPrefix(strings.ToLower(fn.Name()), "new")
	}
	return false
}

// first reports whether an assignment creates what was nil before: if c.m == nil { c.m = … }.
func first(p *gocode.Place, n ast.Node, v *types.Var) bool {
	for _, up := range p.Enclosing(n) {
		s, ok := up.(*ast.IfStmt)
		if !ok {
			continue
		}
		found := false
		ast.Inspect(s.Cond, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			found = found || ok && b.Op == token.EQL && syntax.Named(p, b.X) == v
			return !found
		})
		if found {
			return true
		}
	}
	return false
}
