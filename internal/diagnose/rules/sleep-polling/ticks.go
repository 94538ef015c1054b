package sleeppolling

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// ticks reports whether the line waits for a timer in a loop that waits for something in memory, as
// polls does for sleeps: each time that the timer fires, the loop checks whether it may end. It may
// wait for the end of a context as well, but not for events.
func ticks(p *gocode.Place) bool {
	for _, n := range p.Nodes {
		if syntax.Line(p, n.Pos()) != p.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.RangeStmt:
			if times(p, n.X) {
				return checks(p, n.Body, false)
			}
		case *ast.SelectStmt:
			return unbounded(p) && ticksIn(p, n)
		case *ast.ExprStmt:
			if received := receivedFrom(n); received != nil && times(p, received) && unbounded(p) {
				return checks(p, p.Loop().(*ast.ForStmt).Body, p.Loop().(*ast.ForStmt).Cond != nil)
			}
		}
	}
	return false
}

// unbounded reports whether the loop around the line counts no attempts.
func unbounded(p *gocode.Place) bool {
	loop, ok := p.Loop().(*ast.ForStmt)
	return ok && loop.Init == nil && loop.Post == nil
}

// ticksIn reports whether a select waits for a timer, and for nothing else but the end of a context
// or another timer. The loop checks in the case of the timer, or after the select.
func ticksIn(p *gocode.Place, sel *ast.SelectStmt) bool {
	var checked bool
	for _, c := range sel.Body.List {
		c := c.(*ast.CommClause)
		from := receivedFrom(c.Comm)
		if from == nil {
			return false // a default, or a send
		}
		if call, ok := ast.Unparen(from).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), "(context.Context).Done") {
			continue
		}
		if !times(p, from) {
			return false
		}
		for _, s := range c.Body {
			checked = checked || checks(p, s, false) && !returnsAlways(c)
		}
	}
	loop := p.Loop().(*ast.ForStmt)
	if !checked {
		for _, s := range loop.Body.List {
			checked = checked || s != ast.Stmt(sel) && checks(p, s, false)
		}
	}
	return (checked || loop.Cond != nil) && checks(p, loop.Body, true)
}

// returnsAlways reports whether a case leaves the function: it is a timeout.
func returnsAlways(c *ast.CommClause) bool {
	_, ok := c.Body[len(c.Body)-1].(*ast.ReturnStmt)
	return ok && len(c.Body) == 1
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
