package sleeppolling

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// pause returns what waits for a timer on the line, alone or until a context ends: a sleep, a
// receive, a select, or a loop over the times of a ticker; nil for none.
func pause(p *gocode.Place) ast.Node {
	if calls := syntax.CallsOf(p, "time.Sleep"); len(calls) == 1 {
		return calls[0]
	}
	for _, n := range p.Nodes {
		if syntax.Line(p, n.Pos()) != p.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.RangeStmt:
			if times(p, n.X) {
				return n
			}
		case *ast.SelectStmt:
			if onlyTimers(p, n) {
				return n
			}
		case *ast.ExprStmt:
			if received := receivedFrom(n); received != nil && times(p, received) {
				return n
			}
		}
	}
	return nil
}

// loopOf returns the loop that a pause is in; nil for none.
func loopOf(p *gocode.Place, wait ast.Node) ast.Stmt {
	if r, ok := wait.(*ast.RangeStmt); ok {
		return r
	}
	return p.LoopAround(wait)
}

// onlyTimers reports whether a select waits for timers, and for nothing else but the end of a
// context.
func onlyTimers(p *gocode.Place, sel *ast.SelectStmt) bool {
	found := false
	for _, c := range sel.Body.List {
		from := receivedFrom(c.(*ast.CommClause).Comm)
		if from == nil {
			return false // a default, or a send
		}
		if !ended(p, from) {
			if !times(p, from) {
				return false
			}
			found = true
		}
	}
	return found
}

// receivedFrom returns the channel that a statement receives from; nil for none.
func receivedFrom(s ast.Stmt) ast.Expr {
	var e ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			e = s.Rhs[0]
		}
	}
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u.X
	}
	return nil
}

// times reports whether an expression is a channel of times.
func times(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	ch, ok := t.Underlying().(*types.Chan)
	return ok && types.TypeString(ch.Elem(), nil) == "time.Time"
}

// tickers returns the calls in the function that create a ticker.
func tickers(p *gocode.Place) (calls []*ast.CallExpr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), "time.NewTicker", "time.Tick") {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}
