package closurepercall

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// chain is a loop that wraps a function or a handler by each of a list: h = wrap(h).
type chain struct {
	handler string // h
	wrap    string // wrap
	line    int    // of the loop
}

// chains finds loops that build a chain in which each stage is a new function. Those of a function
// that runs once allocate nothing in the profile.
func chains(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *chain { return chainAt(place) })
	return []finder.Line{{
		Start: finder.Frames(func(r *site.Row) int {
			if i := lines.Nearest(r); i > 0 { // a stage allocates, not the loop itself
				return i
			}
			return -1
		}),
		Judge: func(c *finder.Case) bool {
			ch := lines.At(&c.Site.Frame)
			if ch == nil || len(c.Allocs) == 0 {
				return false
			}
			c.Cause = fmt.Sprintf("The loop on line %d wraps %s by each function of a list, each time that %s runs: every stage of the chain is allocated again.", ch.line, ch.handler, syntax.FuncName(c.Place))
			c.Fix = fmt.Sprintf("Build the chain once, where the list or the route is set up, and keep the outermost %s; what differs from call to call belongs in the request or its context.", ch.handler)
			c.Confidence = rule.Likely // what the stages depend on is not known
			return true
		},
	}}
}

// chainAt returns the chain that is built on a line and called in the same function; nil for none.
func chainAt(p *gocode.Place) *chain {
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		h := syntax.LocalVar(p, a.Lhs[0])
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if h == nil || !ok || !callable(h.Type()) || !wraps(p, call, h) || !loops.PerCall(p, a) {
			continue
		}
		around := loops.Around(p, a)
		if len(around) == 0 || syntax.Inside(around[0], h.Pos()) || !called(p, h, around[0]) {
			continue
		}
		return &chain{h.Name(), syntax.Text(call.Fun), syntax.Line(p, around[0].Pos())}
	}
	return nil
}

// callable reports whether values of a type are functions, or have one method only, such as an
// http.Handler.
func callable(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Interface:
		return u.NumMethods() == 1
	}
	return false
}

// wraps reports whether a call passes the variable to a function of a list: to a value, or to a
// method of one.
func wraps(p *gocode.Place, call *ast.CallExpr, h *types.Var) bool {
	if fn := p.Callee(call); fn != nil && fn.Signature().Recv() == nil {
		return false
	}
	if _, conversion := p.Conversion(call); conversion {
		return false
	}
	for _, arg := range call.Args {
		if syntax.LocalVar(p, arg) == h {
			return true
		}
	}
	return false
}

// called reports whether the function calls the variable, or a method of it, after a loop.
func called(p *gocode.Place, h *types.Var, loop ast.Node) bool {
	for _, id := range syntax.Uses(p, h) {
		if id.Pos() < loop.End() {
			continue
		}
		for i, n := range p.Enclosing(id) {
			call, ok := n.(*ast.CallExpr)
			if ok && i < 2 && (ast.Unparen(call.Fun) == ast.Expr(id) || syntax.Receiver(call) == ast.Expr(id)) {
				return true
			}
		}
	}
	return false
}
