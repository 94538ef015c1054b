package caching

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// fewest is the number of lookups of a cache that say something about its keys.
const fewest = 8

// ShortLived reports whether the cache lives too short for its keys to recur: it belongs to an
// object, such as a transaction, that is created for a few lookups. count is the number of lookups
// or of stores per unit of work. A cache that is replaced in an object that stays does not count:
// it is cleared.
func (s Shape) ShortLived(pass *rule.Pass, p *gocode.Place, count float64) bool {
	cache := syntax.Named(p, s.Cache)
	if cache == nil {
		return false
	}
	created := 0.0
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			for _, n := range creations(p.Entry(fn), cache) {
				runs, _ := evidence.ReachedAt(pass, p, n.Pos())
				created += runs
			}
		}
	}
	return count < fewest*created
}

// creations returns what creates a cache in a function: the declaration of a local one, a field of
// a literal, or an assignment to a field of a struct that the function created.
func creations(in *gocode.Place, cache *types.Var) (all []ast.Node) {
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && in.Object(key) == cache {
				all = append(all, n)
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if syntax.Named(in, to) != cache {
					continue
				}
				owner, _ := syntax.Var(in, to)
				if owner == cache && syntax.Defines(in, to) || owner != cache && syntax.Local(in, owner) && !syntax.Param(in, owner) && made(in, owner) {
					all = append(all, n)
				}
			}
		}
		return true
	})
	return all
}

// made reports whether a function creates the struct that a local variable is or points to.
func made(in *gocode.Place, v *types.Var) bool {
	values := syntax.Assigned(in, v)
	for _, e := range values {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
			e = u.X
		}
		switch e := ast.Unparen(e).(type) {
		case *ast.CompositeLit:
		case *ast.CallExpr:
			if in.CalleeName(e) != "new" {
				return false
			}
		default:
			return false
		}
	}
	_, pointer := v.Type().Underlying().(*types.Pointer)
	return len(values) > 0 || !pointer // var b Bucket
}
