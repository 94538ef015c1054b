package copytoread

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// readByCallers reports whether the callers in the profile only read what the function returns.
func readByCallers(p *rule.Pass, c *finder.Case, u *reader) bool {
	var total, other int64
	judged := map[gocode.Pos]bool{}
	rows := c.Allocs
	if len(rows) == 0 {
		rows = c.CPU
	}
	for _, r := range rows {
		total += r.Value
		at, function, ok := caller(p, r, c.Site.Function)
		if !ok {
			other += r.Value
			continue
		}
		fine, known := judged[at]
		if !known {
			fine = u.calls(p, at, function)
			judged[at] = fine
		}
		if !fine {
			other += r.Value
		}
	}
	return total > 0 && float64(other) <= mostOther*float64(total)
}

// caller returns the line of a stack that gets what a function returns, and the function that it
// calls for that: the caller, or above it the first that does not return the value at once.
func caller(p *rule.Pass, r *site.Row, function string) (at gocode.Pos, called string, ok bool) {
	i := 0
	for i < len(r.Stack) && r.Stack[i].Function != function {
		i++
	}
	for ; i+1 < len(r.Stack); i++ {
		above := r.Stack[i+1]
		at = gocode.Pos{File: above.File, Line: above.Line}
		place, known := p.Syntax.At(at.File, at.Line)
		if !known || !passesOn(place, syntax.CallsTo(place, r.Stack[i].Function)) {
			return at, r.Stack[i].Function, known
		}
	}
	return at, "", false
}

// passesOn reports whether a function returns what calls in it return, as its first result.
func passesOn(p *gocode.Place, calls []*ast.CallExpr) bool {
	for _, call := range calls {
		ret, ok := syntax.Parent(p.Outer(), call).(*ast.ReturnStmt)
		if !ok || ast.Unparen(ret.Results[0]) != ast.Expr(call) || p.Func != ast.Node(p.Decl) {
			return false
		}
	}
	return len(calls) > 0
}

// calls reports whether a line only reads what its calls of a function return.
func (u *reader) calls(p *rule.Pass, at gocode.Pos, function string) bool {
	place, ok := p.Syntax.At(at.File, at.Line)
	if !ok {
		return false
	}
	calls := syntax.CallsTo(place, function)
	for _, call := range calls {
		if send, ok := syntax.Parent(place.Outer(), call).(*ast.SendStmt); ok && u.received(place, send) {
			continue
		}
		if !u.value(place.Outer(), call) {
			return false
		}
	}
	return len(calls) > 0
}

// received reports whether all that receive such values from a channel in the package, only read
// what they get: the goroutine that owns a list answers requests with copies of it.
func (u *reader) received(p *gocode.Place, send *ast.SendStmt) bool {
	sent, ok := p.TypeOf(send.Chan).(*types.Chan)
	if !ok {
		return false
	}
	found, fine := false, true
	each(p, func(decl *ast.FuncDecl, n ast.Node) {
		get, ok := n.(*ast.UnaryExpr)
		if !ok || get.Op != token.ARROW || !fine {
			return
		}
		from, ok := p.TypeOf(get.X).(*types.Chan)
		if !ok || !types.Identical(from.Elem(), sent.Elem()) {
			return
		}
		found = true
		in := p.Entry(decl)
		if _, returns := syntax.Parent(in, get).(*ast.ReturnStmt); returns {
			fine = u.callsOf(in)
		} else {
			fine = u.value(in, get)
		}
	})
	u.asked = found && fine
	return u.asked
}

// callsOf reports whether the calls of the function around a place only read what it returns. Calls
// that hardly ran, as counted, do not matter.
func (u *reader) callsOf(in *gocode.Place) bool {
	self := in.Info.Defs[in.Decl.Name]
	var total, other float64
	judge := func(at *gocode.Place, call *ast.CallExpr) {
		times := 1.0
		if u.pass.Counts != nil {
			times, _ = evidence.ReachedAt(u.pass, at, call.Pos())
		}
		total += times
		if !u.value(at.Outer(), call) {
			other += times
		}
	}
	each(in, func(decl *ast.FuncDecl, n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && in.Callee(call) == self {
			judge(in.Entry(decl), call)
		}
	})
	for _, at := range u.pass.Syntax.Calls(func(fn *types.Func) bool { return fn == self }) {
		if at.Pkg == in.Pkg {
			continue
		}
		for _, call := range syntax.Calls(at) {
			if at.Callee(call) == self {
				judge(at, call)
			}
		}
	}
	return total > 0 && other <= mostOther*total
}

// each visits all nodes of the functions of a place's package.
func each(p *gocode.Place, visit func(decl *ast.FuncDecl, n ast.Node)) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					visit(decl, n)
					return true
				})
			}
		}
	}
}
