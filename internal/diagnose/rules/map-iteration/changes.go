package mapiteration

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// changes counts the entries of a map that the package can have changed.
type changes struct {
	pass    *rule.Pass
	place   *gocode.Place
	of      *types.Var
	entries float64 // of the map, on average

	n     float64 // for each unit of work
	known bool
}

// add notes a node that changes some entries each time it runs.
func (c *changes) add(n ast.Node, entries float64) {
	e, ok := evidence.ExecutionsAt(c.pass, c.place, n.Pos())
	if at := c.place.Fset.Position(n.Pos()); !ok && c.pass.Counts.Ran(c.place.Pkg.Path(), at.Filename) {
		c.known = c.known && c.global(n)
		return
	}
	c.n += e.PerUnit * entries
}

// global reports whether a node is outside of functions: it runs once, and no block counts it.
func (c *changes) global(n ast.Node) bool {
	for _, file := range c.place.Files() {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && syntax.Inside(fn, n.Pos()) {
				return false
			}
		}
	}
	return true
}

func (c *changes) is(e ast.Expr) bool { return e != nil && syntax.Named(c.place, e) == c.of }

func (c *changes) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			c.assigned(n, e)
		}
	case *ast.IncDecStmt:
		c.assigned(n, n.X)
	case *ast.KeyValueExpr: // a field of a composite literal
		if c.is(n.Key) {
			c.add(n, c.entries)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND && c.is(n.X) {
			c.add(n, c.entries)
		}
	case *ast.CallExpr:
		c.called(n)
	}
	return true
}

func (c *changes) assigned(n ast.Node, e ast.Expr) {
	if c.is(e) {
		c.add(n, c.entries)
		return
	}
	if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok && c.is(index.X) {
		c.add(n, 1)
	}
}

// called notes a call that gets the map and may change it.
func (c *changes) called(call *ast.CallExpr) {
	for i, arg := range call.Args {
		if !c.is(arg) {
			continue
		}
		switch c.place.CalleeName(call) {
		case "len", "maps.Clone", "maps.Keys", "maps.Values", "maps.All", "maps.Equal":
		case "delete":
			c.add(call, 1)
		case "maps.Copy":
			if i == 0 {
				c.add(call, c.entries)
			}
		default:
			c.add(call, c.entries)
		}
	}
}
