package roundtripperitem

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// answered returns the call that sends an item to which another call waits for the answer, in the
// same iteration and through the same client, if no item depends on an answer; nil for none.
func answered(p *gocode.Place, node ast.Node, call *ast.CallExpr) (found *ast.CallExpr) {
	to := syntax.Receiver(call)
	if to == nil {
		return nil
	}
	ast.Inspect(node, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit && n != node {
			return false
		}
		sent, ok := n.(*ast.CallExpr)
		if !ok || found != nil || sent.End() >= call.Pos() || syntax.Receiver(sent) == nil || !syntax.Same(p, syntax.Receiver(sent), to) {
			return found == nil
		}
		if asks(p, sent) && awaited.PerItem(p, node, sent) && !awaited.Feeds(p, node, call, sent.Args) {
			found = sent
		}
		return found == nil
	})
	return found
}
