package flow

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// mostly is the minimum share of the executions of a node that a loop must cause.
const mostly = 0.5

// Repeated is a node that a loop executes many times: the one that was asked for, or a call that
// leads to it.
type Repeated struct {
	Place *gocode.Place // of the node's line
	Node  ast.Node
	Loop  ast.Node
	Items float64 // executions each time the loop is reached
}

// Repeating returns the loop that causes most of the executions of a node, by the counts, in its
// function or in those that call it: levels of them at most. Loops that wait for what comes next do
// not count.
func Repeating(pass *rule.Pass, p *gocode.Place, n ast.Node, least float64, levels int) (Repeated, bool) {
	runs, ok := evidence.ReachedAt(pass, p, n.Pos())
	if !ok || pass.Syntax == nil {
		return Repeated{}, false
	}
	return repeating(pass, p, n, runs, least, levels)
}

func repeating(pass *rule.Pass, p *gocode.Place, n ast.Node, total, least float64, levels int) (Repeated, bool) {
	runs, ok := evidence.ReachedAt(pass, p, n.Pos())
	if !ok || runs < mostly*total {
		return Repeated{}, false
	}
	for _, loop := range loops.Around(p, n) {
		entries, ok := evidence.ReachedAt(pass, p, loop.Pos())
		if ok && entries > 0 && runs >= least*entries && !endless(p, loop) {
			return Repeated{p, n, loop, runs / entries}, true
		}
	}
	self := declared(p)
	if levels == 0 || self == nil {
		return Repeated{}, false
	}
	is := func(fn *types.Func) bool { return fn.Origin() == self || awaited.Implements(self, fn.Origin()) }
	for _, in := range pass.Syntax.Calls(is) {
		for _, call := range in.Calls() {
			if fn := in.Callee(call); fn == nil || !is(fn) || in.Decl == p.Decl {
				continue
			}
			if found, ok := repeating(pass, in, call, total, least, levels-1); ok {
				return found, true
			}
		}
	}
	return Repeated{}, false
}

// declared returns the function declared around a place; nil in function literals.
func declared(p *gocode.Place) *types.Func {
	if p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return nil
	}
	fn, _ := p.Object(p.Decl.Name).(*types.Func)
	return fn
}

// endless reports whether a loop goes on as long as something comes: without a condition, or over a
// channel.
func endless(p *gocode.Place, loop ast.Node) bool {
	switch l := loop.(type) {
	case *ast.ForStmt:
		return l.Cond == nil
	case *ast.RangeStmt:
		if t := p.TypeOf(l.X); t != nil {
			_, ch := t.Underlying().(*types.Chan)
			return ch
		}
	}
	return false
}
