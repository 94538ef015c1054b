package tickwait

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// ticks reports whether a line waits for a timer: it receives times from a channel, among others or
// alone, or sleeps in a loop.
func ticks(p *gocode.Place) bool {
	for _, n := range p.Nodes {
		if r, ok := n.(*ast.RangeStmt); ok && syntax.Line(p, r.Pos()) == p.Line && syntax.Times(p, r.X) {
			return true // the line of the loop itself waits
		}
	}
	loop := p.Loop()
	if loop == nil {
		return false
	}
	if len(syntax.CallsOf(p, "time.Sleep")) > 0 {
		return !takes(p, loop)
	}
	found := false
	for _, n := range p.Nodes {
		if syntax.Line(p, n.Pos()) != p.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if comm := c.(*ast.CommClause).Comm; comm != nil {
					found = found || receives(p, comm)
				}
			}
		case *ast.ExprStmt, *ast.AssignStmt:
			found = found || receives(p, n.(ast.Stmt))
		}
	}
	return found
}

// takes reports whether a loop takes work from a channel: a sleep in it belongs to the work.
func takes(p *gocode.Place, loop ast.Stmt) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			_, ok := p.TypeOf(n.X).Underlying().(*types.Chan)
			found = found || ok
		}
		return !found
	})
	return found
}

// receives reports whether a statement receives a time.
func receives(p *gocode.Place, s ast.Stmt) bool {
	from, _ := syntax.ReceivesFrom(s)
	return from != nil && syntax.Times(p, from)
}

// sleepsWhenEmpty reports whether a line sleeps because a call of its function found nothing to do:
// in a branch whose condition reads what the call returned, in a loop or in a function that a loop
// of the package calls.
func sleepsWhenEmpty(p *gocode.Place) bool {
	if p.Decl == nil || p.Loop() == nil && !calledInLoop(p) {
		return false
	}
	for _, call := range syntax.CallsOf(p, "time.Sleep", "time.After") {
		for _, n := range p.Enclosing(call) {
			switch n := n.(type) {
			case *ast.IfStmt:
				if syntax.Inside(n.Body, call.Pos()) && asks(p, n.Cond) || n.Else != nil && syntax.Inside(n.Else, call.Pos()) && asks(p, n.Cond) {
					return true
				}
			case *ast.CaseClause:
				for _, e := range n.List {
					if asks(p, e) {
						return true
					}
				}
			}
		}
	}
	return false
}

// asks reports whether a condition reads a variable that a call has set: an error, a list, whether
// there was something. Calls of the condition itself count, unless they only compare.
func asks(p *gocode.Place, cond ast.Expr) bool {
	set := map[types.Object]bool{}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		if _, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
			for _, lhs := range a.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && p.Object(id) != nil {
					set[p.Object(id)] = true
				}
			}
		}
		return true
	})
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || set[p.Object(n)]
		case *ast.CallExpr:
			found = found || p.Declaration(p.Callee(n)) != nil
		}
		return !found
	})
	return found
}

// calledInLoop reports whether a loop of the package calls the function around a place.
func calledInLoop(p *gocode.Place) bool {
	self, found := p.Object(p.Decl.Name), false
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			loop, ok := n.(*ast.ForStmt)
			if !ok || loop.Init != nil || found {
				return !found
			}
			ast.Inspect(loop.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok {
					fn := p.Callee(call)
					found = found || fn != nil && types.Object(fn) == self
				}
				return !found
			})
			return !found
		})
	}
	return found
}
