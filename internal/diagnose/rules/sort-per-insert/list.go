package sortperinsert

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// list is a list as the source of a function names it.
type list struct {
	root *types.Var // the variable that has it
	text string
}

func named(p *gocode.Place, e ast.Expr) list {
	v, _ := syntax.Var(p, e)
	e = ast.Unparen(e)
	if star, ok := e.(*ast.StarExpr); ok { // sort.Sort(q.items), with *q.items = append(*q.items, x)
		e = ast.Unparen(star.X)
	}
	return list{v, types.ExprString(e)}
}

// is reports whether an expression names the list.
func (l list) is(p *gocode.Place, e ast.Expr) bool { return l.root != nil && named(p, e) == l }

// given returns the list as a caller names it, which passes it to the function of a place as an
// argument, the receiver or a field of one.
func (l list) given(p, caller *gocode.Place, call *ast.CallExpr) (list, bool) {
	passed := flow.ArgumentFor(p, call, l.root)
	if passed == nil {
		return list{}, false
	}
	if u, ok := ast.Unparen(passed).(*ast.UnaryExpr); ok && u.Op == token.AND {
		passed = u.X
	}
	rest, ok := strings.CutPrefix(l.text, l.root.Name())
	up := named(caller, passed)
	up.text += rest
	return up, ok && up.root != nil
}

// lasts reports whether a list was there before the function at stack[i] appends to it: a list that
// the function itself collects is not in order before.
func (s *search) lasts(stack []*site.Frame, i int, p *gocode.Place, call *ast.CallExpr, l list) bool {
	v := l.root
	if v == nil || !syntax.Local(p, v) {
		return true
	}
	_, slice := v.Type().Underlying().(*types.Slice)
	whole := slice && l.text == v.Name()
	if syntax.Param(p, v) {
		return !whole || s.passedLasting(stack, i, p, v)
	}
	for _, loop := range loops.Around(p, call) {
		if !syntax.Inside(loop, v.Pos()) {
			return true
		}
	}
	values := syntax.Assigned(p, v)
	for _, value := range values {
		if whole && part(p, value, v) || !whole && !created(p, value) {
			return true
		}
	}
	return !whole && len(values) == 0
}

// part reports whether an expression is a list that something other than the variable v has: a
// field, the entry of a map, a parameter; or what append adds to one.
func part(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && p.CalleeName(call) == "append" {
		e = ast.Unparen(call.Args[0])
	}
	root, inside := syntax.Var(p, e)
	return root != nil && root != v && (inside || !syntax.Local(p, root) || syntax.Param(p, root))
}

// created reports whether an expression creates a value.
func created(p *gocode.Place, e ast.Expr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return p.CalleeName(e) == "new" || p.CalleeName(e) == "make"
	}
	return false
}

// passedLasting reports whether the caller of the function at stack[i] passes a list that lasts for
// a parameter.
func (s *search) passedLasting(stack []*site.Frame, i int, p *gocode.Place, v *types.Var) bool {
	if i+1 >= len(stack) {
		return false
	}
	caller, ok := s.pass.Syntax.At(stack[i+1].File, stack[i+1].Line)
	if !ok {
		return false
	}
	call := flow.CallAbove(p, caller)
	at := syntax.ParamIndex(syntax.SignatureOf(p), v)
	if call == nil || at >= len(call.Args) {
		return false
	}
	if at < 0 { // the receiver
		recv := syntax.Receiver(call)
		return recv != nil && s.lasts(stack, i+1, caller, call, named(caller, recv))
	}
	return s.lasts(stack, i+1, caller, call, named(caller, call.Args[at]))
}
