package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostAbove is how many callers above the line that allocates are searched for the loop.
const mostAbove = 6

// abandoned returns the call in a loop that opens one value after the other, of which live memory
// is a part, if the function drops those that are open when a later one fails; nil for none.
func abandoned(p *rule.Pass, live []*site.Row) (*site.Site, *keep) {
	r := stacks.Largest(live)
	if r == nil || p.Syntax == nil {
		return nil, nil
	}
	stack := r.Stack[max(0, r.Owner):]
	for i, f := range stack[:min(len(stack), mostAbove)] {
		place, ok := p.Syntax.At(f.File, f.Line)
		if !ok || f.Owner.Kind != gocode.Main || place.Decl == nil {
			continue
		}
		for _, call := range syntax.Calls(place) {
			if k := dropsOpen(p, place, call, stack[i+1:]); k != nil {
				return p.Site(f), k
			}
		}
	}
	return nil, nil
}

// dropsOpen returns what is to say about a call whose results a loop collects in a list, if a
// return for an error that ran leaves the loop, and neither its block nor the caller closes the
// list.
func dropsOpen(p *rule.Pass, place *gocode.Place, call *ast.CallExpr, above []*site.Frame) *keep {
	v, loop := syntax.Result(place, call), place.LoopAround(call)
	if v == nil || loop == nil {
		return nil
	}
	closer := closes(place, v.Type())
	list := collectedIn(place, loop, v)
	if closer == "" || list == nil || deferredOn(place, list) {
		return nil
	}
	var found *ast.ReturnStmt
	ast.Inspect(loop, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		if _, lit := n.(*ast.FuncLit); lit || found != nil {
			return false
		}
		if !ok || ret.Pos() < call.End() || usedBefore(place, ret, list) {
			return true
		}
		if ran, ok := evidence.ExecutionsAt(p, place, ret.Pos()); ok && ran.PerUnit > 0 {
			found = ret
		}
		return true
	})
	if found == nil || !failed(place, found) {
		return nil
	}
	by := ""
	if syntax.Mentions(place, found, list) {
		if by = droppedBy(p, above); by == "" {
			return nil
		}
		by = ", which " + by + " drops"
	}
	line := syntax.Line(place, found.Pos())
	return &keep{
		words: fmt.Sprintf("When a later one fails, %s returns on line %d without closing those in %s%s: nothing calls %s on them.", syntax.FuncName(place), line, list.Name(), by, closer),
		fix:   fmt.Sprintf("Call %s on each element of %s before the return on line %d.", closer, list.Name(), line),
	}
}

// closes returns the method without parameters that ends values of a type; "" for none.
func closes(p *gocode.Place, t types.Type) string {
	for _, name := range []string{"Close", "close", "Stop", "stop", "Shutdown", "shutdown", "Release", "release"} {
		o, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, name)
		if m, ok := o.(*types.Func); ok && m.Signature().Params().Len() == 0 {
			return name
		}
	}
	return ""
}

// collectedIn returns the local list that a loop appends a variable to; nil for none.
func collectedIn(p *gocode.Place, loop ast.Node, v *types.Var) (list *types.Var) {
	insertions(p, loop, func(in insertion, _ ast.Node) {
		if in.key == nil && !in.deep && syntax.LocalVar(p, in.value) == v {
			list = syntax.LocalVar(p, in.into)
		}
	})
	return list
}

// deferredOn reports whether a deferred call may close a list.
func deferredOn(p *gocode.Place, list *types.Var) (found bool) {
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		found = found || ok && syntax.Mentions(p, d, list)
		return !found
	})
	return found
}

// usedBefore reports whether the block of a return uses a list before it.
func usedBefore(p *gocode.Place, ret *ast.ReturnStmt, list *types.Var) bool {
	block, ok := syntax.Parent(p, ret).(*ast.BlockStmt)
	if !ok {
		return true
	}
	for _, s := range block.List {
		if s != ast.Stmt(ret) && syntax.Mentions(p, s, list) {
			return true
		}
	}
	return false
}

// failed reports whether a return is in the block of a condition on an error.
func failed(p *gocode.Place, ret *ast.ReturnStmt) bool {
	cond, ok := syntax.Parent(p, syntax.Parent(p, ret)).(*ast.IfStmt)
	return ok && onError(p, cond)
}

// onError reports whether a condition compares an error.
func onError(p *gocode.Place, cond *ast.IfStmt) bool {
	b, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr)
	return ok && syntax.IsError(p.TypeOf(b.X))
}

// droppedBy names the caller of a function that does nothing with its result when it gets an error,
// the nearest of the frames above; "" if it may use it.
func droppedBy(p *rule.Pass, above []*site.Frame) string {
	if len(above) == 0 {
		return ""
	}
	place, ok := p.Syntax.At(above[0].File, above[0].Line)
	if !ok || place.Decl == nil {
		return ""
	}
	for _, call := range syntax.Calls(place) {
		v := syntax.Result(place, call)
		if v == nil {
			continue
		}
		dropped := false
		ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
			if cond, ok := n.(*ast.IfStmt); ok && !dropped && cond.Pos() > call.End() && onError(place, cond) {
				dropped = syntax.Leaves(cond.Body) && !syntax.Mentions(place, cond, v)
				return false
			}
			return true
		})
		if dropped {
			return syntax.FuncName(place)
		}
	}
	return ""
}
