package later

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Inputs returns the variables that a value is computed from; true for those that refer to memory
// that others may change.
func Inputs(p *gocode.Place, value ast.Expr) map[*types.Var]bool {
	from := map[*types.Var]bool{}
	ast.Inspect(value, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := p.Object(id).(*types.Var); ok && !v.IsField() {
				from[v] = !syntax.PlainData(v.Type())
			}
		}
		return true
	})
	return from
}

// Unchanged reports whether nothing between a computation and a use may change the inputs. Uses in
// another function literal run at an unknown time.
func Unchanged(p *gocode.Place, computed, use ast.Node, from map[*types.Var]bool) bool {
	return UnchangedBut(p, computed, use, from, func(*ast.CallExpr) bool { return false })
}

// UnchangedBut is Unchanged, but for calls that do not count.
func UnchangedBut(p *gocode.Place, computed, use ast.Node, from map[*types.Var]bool, skip func(*ast.CallExpr) bool) bool {
	if syntax.FuncAround(p, computed) != syntax.FuncAround(p, use) {
		for v, shared := range from {
			if shared || Sets(p, v) > 1 {
				return false
			}
		}
		return true
	}
	fine := true
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil || !fine || n.End() <= computed.End() || n.Pos() >= use.Pos() {
			return false
		}
		if n.Pos() < computed.End() || syntax.Within(n, use) {
			return true // around one of them
		}
		if s, ok := n.(ast.Stmt); ok && syntax.Exclusive(p, s, use) {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && skip(call) {
			return true
		}
		fine = !changes(p, n, from)
		return fine
	})
	return fine
}

// changes reports whether a node, without those in it, may change one of the variables or what it
// refers to.
func changes(p *gocode.Place, n ast.Node, from map[*types.Var]bool) bool {
	is := func(e ast.Expr) bool {
		if e == nil {
			return false
		}
		v, _ := syntax.Var(p, e)
		_, input := from[v]
		return v != nil && input
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if is(lhs) {
				return true
			}
		}
	case *ast.IncDecStmt:
		return is(n.X)
	case *ast.RangeStmt:
		return n.Tok == token.ASSIGN && (is(n.Key) || is(n.Value))
	case *ast.UnaryExpr:
		return n.Op == token.AND && is(n.X)
	case *ast.CallExpr:
		return mentions(p, n, from) && !reader(p, n)
	}
	return false
}

// mentions reports whether a call gets one of the variables that refer to memory, or a part of it.
func mentions(p *gocode.Place, call *ast.CallExpr, from map[*types.Var]bool) bool {
	found := false
	look := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				v, ok := p.Object(id).(*types.Var)
				found = found || ok && from[v]
			}
			return !found
		})
	}
	look(call.Fun)
	for _, arg := range call.Args {
		if t := p.TypeOf(arg); t == nil || !syntax.PlainData(t) {
			look(arg)
		}
	}
	return found
}

// Sets returns how often a function sets a variable.
func Sets(p *gocode.Place, v *types.Var) (n int) {
	for _, id := range syntax.Uses(p, v) {
		if p.Info.Defs[id] != nil || syntax.Defines(p, id) {
			n++
		}
	}
	return n
}
