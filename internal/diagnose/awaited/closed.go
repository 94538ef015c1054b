package awaited

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Closed reports whether a line waits for a channel that the function around another line closes:
// for the end of something that all can see, and not for its turn.
func Closed(p *rule.Pass, waiter, waker *exectrace.Line) bool {
	if p.Syntax == nil {
		return false
	}
	at, ok := p.Syntax.At(waiter.File, waiter.Line)
	if !ok {
		return false
	}
	by, ok := p.Syntax.At(waker.File, waker.Line)
	if !ok {
		return false
	}
	channels := channelsOf(at)
	found := false
	ast.Inspect(syntax.Body(by.Outer()), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || len(call.Args) != 1 || !by.Info.Types[call.Fun].IsBuiltin() || syntax.Text(call.Fun) != "close" {
			return !found
		}
		found = channels[syntax.Named(by, call.Args[0])]
		return !found
	})
	return found
}

// channelsOf returns the variables and fields of channels that a line receives from.
func channelsOf(p *gocode.Place) map[*types.Var]bool {
	from := map[*types.Var]bool{}
	for _, n := range p.Nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
				if v := syntax.Named(p, u.X); v != nil {
					from[v] = true
				}
			}
			return true
		})
	}
	return from
}
