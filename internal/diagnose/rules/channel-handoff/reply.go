package channelhandoff

import (
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// question is a message to whose reply its sender waits.
type question struct {
	place *gocode.Place // of the line that sends it, or waits for the reply
	send  *ast.SendStmt
}

// exchanged returns the question of which a hand-off is a part: its sender waits for a reply to it,
// or for that reply; nil for none. A caller has one item, so there is nothing to batch in it.
func exchanged(p *rule.Pass, h *handoff) *question {
	if q := asks(p, h.sender, true); q != nil {
		return q
	}
	return asks(p, h.receiver, false)
}

// asks returns the question that a line sends, or else the one to which it waits for the reply, if
// one function does both one after the other; nil for none.
func asks(p *rule.Pass, l exectrace.Line, sends bool) *question {
	s := traced.SiteAt(p, l)
	if s == nil {
		return nil
	}
	place := p.Place(s)
	if place == nil {
		return nil
	}
	var requests []*ast.SendStmt
	var replies []*ast.UnaryExpr
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == place.Func // another goroutine, or another time
		case *ast.SendStmt:
			if !sends || syntax.Line(place, n.Arrow) == place.Line {
				requests = append(requests, n)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && (sends || syntax.Line(place, n.Pos()) == place.Line) {
				replies = append(replies, n)
			}
		}
		return true
	})
	for _, request := range requests {
		for _, reply := range replies {
			if answers(place, request, reply) {
				return &question{place, request}
			}
		}
	}
	return nil
}

// answers reports whether a function receives the reply to what it sent before: from a channel that
// is in the message, from another channel of the struct that has the first, or from the same one.
func answers(p *gocode.Place, request *ast.SendStmt, reply *ast.UnaryExpr) bool {
	// With a loop of its own, each side handles many items before the other side is needed.
	if reply.Pos() < request.End() || p.LoopAround(request) != p.LoopAround(reply) || syntax.Exclusive(p, request, reply) {
		return false
	}
	x := ast.Unparen(reply.X)
	if call, ok := x.(*ast.CallExpr); ok { // Done of a context that the other side cancels
		x = syntax.Receiver(call)
		if v := syntax.LocalVar(p, x); v == nil || syntax.Param(p, v) {
			return false
		}
	}
	from, part := syntax.Var(p, x)
	if from == nil {
		return false
	}
	if _, dropped := syntax.Parent(p, reply).(*ast.ExprStmt); !dropped { // else a semaphore, or a signal to stop
		to, also := syntax.Var(p, request.Chan)
		if syntax.Same(p, x, request.Chan) || part && also && from == to {
			return true
		}
	}
	return has(p, request.Value, x)
}

// has reports whether a message has a channel x in it, or the variable v of a channel v.f: itself,
// or in what its own variable was set to.
func has(p *gocode.Place, message, x ast.Expr) bool {
	values := []ast.Expr{message}
	if m := syntax.Named(p, message); m != nil {
		values = append(values, syntax.Assigned(p, m)...)
	}
	found := false
	for _, value := range values {
		ast.Inspect(value, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok || found {
				return !found
			}
			found = syntax.Same(p, e, x)
			if sel, ok := x.(*ast.SelectorExpr); ok {
				found = found || syntax.Same(p, e, sel.X)
			}
			_, field := e.(*ast.SelectorExpr)
			return !found && !field
		})
	}
	return found
}
