package ratelimitwait

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// byTicker is the minimum share of the waits that the goroutine with the ticker must end.
const byTicker = 0.8

// own is a limiter that the program makes itself.
type own struct {
	what  string // "tokens of bk.tokens"
	where string // the line that admits requests
	every string // the interval; "" if the source does not show it
}

// ownLimiter returns the limiter of the program for which requests wait at a place: a channel that
// a goroutine fills with tokens at the ticks of a timer, or a ticker that they share; nil for none.
func ownLimiter(p *rule.Pass, at *requests.PlaceTime) *own {
	switch at.Part {
	case requests.WaitChanReceive, requests.WaitSelect:
	default:
		return nil
	}
	place := placeAt(p, at.Waiter)
	if place == nil {
		return nil
	}
	if ch := sharedTicker(place); ch != nil {
		return &own{what: "ticks of " + syntax.Text(ch), where: syntax.Where(place, ch.Pos())}
	}
	for _, w := range at.Wakers {
		if w.Line == nil || w.Share < byTicker || w.InHandlers > 0 {
			continue
		}
		if in := placeAt(p, w.Line); in != nil {
			return tokens(in)
		}
	}
	return nil
}

func placeAt(p *rule.Pass, l *exectrace.Line) *gocode.Place {
	if l == nil || p.Syntax == nil {
		return nil
	}
	place, ok := p.Syntax.At(l.File, l.Line)
	if !ok {
		return nil
	}
	return place
}

// sharedTicker returns the channel of times from which a line receives, if it belongs to more than
// the function: a field, a variable of the package, or one that a literal captures; nil for others.
func sharedTicker(p *gocode.Place) (found ast.Expr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		u, ok := n.(*ast.UnaryExpr)
		if !ok || u.Op != token.ARROW || found != nil || !syntax.Times(p, u.X) || !waitsOn(p, u) {
			return found == nil
		}
		root, _ := syntax.Var(p, u.X)
		switch {
		case root == nil: // time.After
		case root.Kind() == types.RecvVar, root.Parent() == root.Pkg().Scope(), p.Decl != nil && !syntax.Inside(p.Func, root.Pos()):
			found = u.X
		}
		return found == nil
	})
	return found
}

// waitsOn reports whether a receive waits on the line of a place: alone, or as a case of the select
// that starts there.
func waitsOn(p *gocode.Place, u *ast.UnaryExpr) bool {
	for _, n := range p.Enclosing(u) {
		if s, ok := n.(*ast.SelectStmt); ok {
			return syntax.Line(p, s.Pos()) == p.Line
		}
		if _, ok := n.(*ast.BlockStmt); ok {
			break
		}
	}
	return syntax.Line(p, u.Pos()) == p.Line
}

// tokens returns the limiter that a line feeds: it sends the same value at each tick, in a loop.
func tokens(p *gocode.Place) *own {
	for _, n := range p.Nodes {
		send, ok := n.(*ast.SendStmt)
		if !ok {
			if s, is := n.(*ast.SelectStmt); is {
				send = sendIn(p, s)
			}
		}
		if send == nil || !isToken(p, send.Value) {
			continue
		}
		for _, up := range p.Enclosing(send) {
			loop, ok := up.(ast.Stmt)
			if !ok {
				continue
			}
			if every, ticks := ticked(p, loop); ticks {
				return &own{"a token from " + syntax.Text(send.Chan), syntax.Where(p, send.Pos()), every}
			}
		}
	}
	return nil
}

// sendIn returns the send that is a case of a select; nil for none.
func sendIn(p *gocode.Place, s *ast.SelectStmt) *ast.SendStmt {
	if syntax.Line(p, s.Pos()) != p.Line {
		return nil
	}
	for _, c := range s.Body.List {
		if send, ok := c.(*ast.CommClause).Comm.(*ast.SendStmt); ok {
			return send
		}
	}
	return nil
}

// isToken reports whether a value is a token: an empty struct, a constant or the time of a tick.
func isToken(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() == 0 || types.TypeString(t, nil) == "time.Time" {
		return true
	}
	_, constant := p.Const(e)
	return constant
}

// ticked reports whether a loop waits for a timer in each iteration, and returns the interval if
// the source shows it.
func ticked(p *gocode.Place, loop ast.Stmt) (every string, ok bool) {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		if syntax.Times(p, loop.X) {
			return interval(p, loop.X), true
		}
	case *ast.ForStmt:
		for _, s := range loop.Body.List {
			ast.Inspect(s, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false
				case *ast.UnaryExpr:
					if n.Op == token.ARROW && syntax.Times(p, n.X) {
						every, ok = interval(p, n.X), true
					}
				case *ast.CallExpr:
					if p.CalleeName(n) == "time.Sleep" {
						every, ok = lasting(p, n.Args[0]), true
					}
				}
				return !ok
			})
		}
	}
	return every, ok
}

// interval returns the argument of time.Tick or time.NewTicker that made a channel of times; "" for
// others.
func interval(p *gocode.Place, ch ast.Expr) string {
	made := syntax.Origin(p, ch)
	if sel, ok := ast.Unparen(made).(*ast.SelectorExpr); ok {
		made = syntax.Origin(p, sel.X)
	}
	call, ok := ast.Unparen(made).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	switch p.CalleeName(call) {
	case "time.Tick", "time.NewTicker", "time.After", "time.NewTimer":
		return lasting(p, call.Args[0])
	}
	return ""
}

// lasting returns a constant duration in words; "" for others.
func lasting(p *gocode.Place, d ast.Expr) string {
	if v, ok := p.Const(d); ok {
		if n, exact := constant.Int64Val(v); exact {
			return units.Seconds(float64(n) / 1e9)
		}
	}
	return ""
}

// match returns the finding for waits for such a limiter.
func (o *own) match(p *rule.Pass, t *traced.Queue) rule.Match {
	each := ""
	if o.every != "" {
		each = fmt.Sprintf(", one every %s", o.every)
	}
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // the wait is measured, what the limit protects is not known
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("The program limits the rate of requests itself: they wait here for %s (%s)%s, for %s of their time; on average %s wait at a time, while the service and its load use %s of the processors.",
			o.what, o.where, each, t.Share(), t.Waiting(), units.Percent(traced.Busy(p))),
		Fix:      "Raise the limit to what it protects can handle, or give each client or tenant a limit of its own, so that one does not use up that of all. If the rate is right, refuse requests (429) instead of queueing them.",
		Evidence: t.Evidence(p, o.what, "mostly admitted at"),
	}
}
