package sleeppolling

import (
	"go/ast"

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
			if syntax.Times(p, n.X) {
				return n
			}
		case *ast.SelectStmt:
			if onlyTimers(p, n) {
				return n
			}
		case *ast.ExprStmt:
			if received, _ := syntax.ReceivesFrom(n); received != nil && syntax.Times(p, received) {
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
		from, _ := syntax.ReceivesFrom(c.(*ast.CommClause).Comm)
		if from == nil {
			return false // a default, or a send
		}
		if !ended(p, from) {
			if !syntax.Times(p, from) {
				return false
			}
			found = true
		}
	}
	return found
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
