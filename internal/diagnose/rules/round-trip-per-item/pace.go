package roundtripperitem

import (
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// paces reports whether a line sleeps on purpose: in a loop, before another attempt, or for a time
// that its names or the clock say is one between calls.
func paces(p *gocode.Place) bool {
	calls := syntax.CallsOf(p, "time.Sleep")
	return slices.ContainsFunc(calls, func(call *ast.CallExpr) bool {
		return p.LoopAround(call) != nil || between(p, call.Args[0], 3)
	})
}

// between reports whether a duration is the time until another call is allowed.
func between(p *gocode.Place, e ast.Expr, depth int) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || funcname.Match(p.CalleeName(n), "time.Until", "(time.Time).Sub")
			if fn := p.Callee(n); fn != nil {
				found = found || slices.ContainsFunc(awaited.Words(fn.Name()), turn)
			}
		case *ast.Ident:
			found = found || spaced(n.Name)
			if v := syntax.LocalVar(p, n); v != nil && depth > 0 && !found {
				found = slices.ContainsFunc(syntax.Assigned(p, v), func(set ast.Expr) bool { return between(p, set, depth-1) })
			}
		}
		return !found
	})
	return found
}

// spaced reports whether a name says that a duration is one between calls.
func spaced(name string) bool {
	return slices.ContainsFunc(awaited.Words(name), func(word string) bool {
		return slices.Contains([]string{"backoff", "cooldown", "gap", "interval", "jitter", "limit", "pace", "period", "rate", "retry", "throttle"}, word)
	})
}
