package chainrewalked

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// remainder is the loop or the recursive call that walks a part of a chain again.
type remainder struct {
	place    *gocode.Place // of the function that has it
	walk     ast.Node
	position bool // it starts at the start of the list
}

// restIn returns the walk over the rest of a chain in a function, or in one that it gives its
// parameter to; without a walk if there is none.
func restIn(p *gocode.Place, param *types.Var, chain step, depth int) (found remainder) {
	if walk := restOf(p, param, chain); walk != nil {
		return remainder{place: p, walk: walk}
	}
	if param == nil || depth == 0 || p.Decl.Body == nil || len(syntax.Assigned(p, param)) > 0 {
		return remainder{}
	}
	self := step{from: param, by: chain.by}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found.walk != nil {
			return found.walk == nil
		}
		decl := p.Declaration(p.Callee(call))
		if decl == nil || decl == p.Decl || decl.Body == nil || len(decl.Body.List) == 0 {
			return true
		}
		if at := index(p, call, self); at != none {
			in := p.Entry(decl)
			found = restIn(in, parameter(in, at), chain, depth-1)
		}
		return found.walk == nil
	})
	return found
}

// positioned returns the loop by which a function steps from the start of a list to a position that
// a loop passes, which counts up or down by one:
//
//	for i … { l.at(i) }
//	func (l *list) at(i int) { e := l.head; for ; i > 0; i-- { e = e.next } }
func positioned(p *gocode.Place, call *ast.CallExpr, loop ast.Node, callee *gocode.Place) (found remainder) {
	v := counter(p, loop)
	if v == nil || !sameList(p, call, loop, v) || callee.Decl.Body == nil || len(callee.Decl.Body.List) == 0 {
		return remainder{}
	}
	for i, arg := range call.Args {
		if variable(p, arg) != v {
			continue
		}
		param := parameter(callee, i)
		ast.Inspect(callee.Decl.Body, func(n ast.Node) bool {
			l, ok := n.(*ast.ForStmt)
			if !ok || found.walk != nil || param == nil {
				return found.walk == nil
			}
			s, steps := stepsIn(callee, l)
			if steps && l.Cond != nil && syntax.Mentions(callee, l.Cond, param) && s.from != param && !syntax.Param(callee, s.from) && ofReceiver(callee, s.from) {
				found = remainder{place: callee, walk: l, position: true}
			}
			return found.walk == nil
		})
	}
	return found
}

// sameList reports whether a call gets nothing that changes in a loop, except its counter.
func sameList(p *gocode.Place, call *ast.CallExpr, loop ast.Node, counter *types.Var) bool {
	if to := syntax.Receiver(call); to != nil && !loops.FromOutside(p, loop, to) {
		return false
	}
	for _, arg := range call.Args {
		if variable(p, arg) != counter && !loops.FromOutside(p, loop, arg) {
			return false
		}
	}
	return true
}

// counter returns the variable that a loop counts up or down by one.
func counter(p *gocode.Place, loop ast.Node) *types.Var {
	switch l := loop.(type) {
	case *ast.ForStmt:
		if post, ok := l.Post.(*ast.IncDecStmt); ok {
			return variable(p, post.X)
		}
	case *ast.RangeStmt:
		if t := p.TypeOf(l.X); t != nil && l.Key != nil && l.Tok == token.DEFINE {
			if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
				return variable(p, l.Key)
			}
		}
	}
	return nil
}

// ofReceiver reports whether a variable is set to a part of a parameter or of the receiver, or to
// the result of its method.
func ofReceiver(p *gocode.Place, v *types.Var) bool {
	for _, e := range syntax.Assigned(p, v) {
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
			if e = syntax.Receiver(call); e == nil {
				continue
			}
		}
		if root, part := syntax.Var(p, e); part && root != nil && syntax.Param(p, root) {
			return true
		}
	}
	return false
}
