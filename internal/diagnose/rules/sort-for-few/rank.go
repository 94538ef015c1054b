package sortforfew

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// quantile reports whether an element is read at a share of the list's length: xs[len(xs)/2],
// xs[int(0.99*float64(len(xs)))]. A loop around the read goes over something other than the list,
// such as the shares. The list is a copy of one that the program keeps: values that are there for
// one calculation have to be ordered for it.
func (u *uses) quantile(n *ast.IndexExpr) bool {
	q := quantile{place: u.place, list: u.v}
	if u.v == nil || !q.share(n.Index) || !q.scales || !u.copied && !keptCopy(u.place, u.v) && !u.given() {
		return false
	}
	for _, loop := range loops.Around(u.place, n) {
		if syntax.Inside(loop, u.v.Pos()) {
			break // each iteration has its own list
		}
		r, ok := loop.(*ast.RangeStmt)
		if !ok || u.mentions(r.X) {
			return false
		}
	}
	return true
}

// keptCopy reports whether a variable has a copy of a list in a field or a package variable.
func keptCopy(p *gocode.Place, v *types.Var) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		switch p.CalleeName(call) {
		case "slices.Clone", "append":
			to := syntax.LocalVar(p, syntax.AssignedTo(p, call))
			if stmt, value := syntax.Declared(p, v); stmt != nil && value == ast.Expr(call) {
				to = v
			}
			found = to == v && kept(p, call.Args[len(call.Args)-1])
		case "copy":
			found = syntax.LocalVar(p, call.Args[0]) == v && kept(p, call.Args[1])
		}
		return !found
	})
	return found
}

// mostAbove is the number of callers that a list is followed to.
const mostAbove = 4

// given reports whether the list is a parameter for which callers pass a copy of one that is kept.
func (u *uses) given() bool {
	p, v := u.place, u.v
	for i := 1; i < len(u.stack) && i <= mostAbove && syntax.Param(p, v); i++ {
		above, ok := u.pass.Syntax.At(u.stack[i].File, u.stack[i].Line)
		if !ok {
			return false
		}
		call := loops.CallTo(above, u.stack[i-1].Function)
		if call == nil {
			return false
		}
		list := flow.ArgumentFor(p, call, v)
		p = above.Outer()
		if conversion, ok := list.(*ast.CallExpr); ok {
			if _, ok := p.Conversion(conversion); ok {
				list = conversion.Args[0]
			}
		}
		v = syntax.LocalVar(p, list)
		if v != nil && keptCopy(p, v) {
			return true
		}
		if getter, ok := syntax.Origin(p, list).(*ast.CallExpr); ok {
			return u.gets(p, getter)
		}
		if v == nil {
			return false
		}
	}
	return false
}

// gets reports whether a call is of a method without parameters that returns a new list: one of
// what its receiver keeps.
func (u *uses) gets(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil || fn.Signature().Params().Len() > 0 {
		return false
	}
	in, ok := u.pass.Syntax.Declared(fn)
	if !ok || in.Decl == nil || in.Decl.Body == nil {
		return false
	}
	copies := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || len(ret.Results) == 0 {
			return true
		}
		made, ok := syntax.Origin(in, ret.Results[0]).(*ast.CallExpr)
		copies = copies || ok && (in.CalleeName(made) == "make" || in.CalleeName(made) == "slices.Clone")
		return true
	})
	return copies
}

// kept reports whether a list is a field or a package variable.
func kept(p *gocode.Place, list ast.Expr) bool {
	if s, ok := ast.Unparen(list).(*ast.SliceExpr); ok {
		list = s.X
	}
	v := syntax.Named(p, list)
	return v != nil && (v.IsField() || v.Parent() == p.Pkg.Scope())
}

// mentions reports whether an expression has the list in it.
func (u *uses) mentions(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && u.place.Object(id) == u.v
		return !found
	})
	return found
}

// quantile examines the index of an element.
type quantile struct {
	place  *gocode.Place
	list   *types.Var
	scales bool // multiplies or divides the length
	depth  int
}

// share reports whether an expression is calculated from the length of the list.
func (q *quantile) share(e ast.Expr) bool {
	p := q.place
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if !q.share(x.X) && !q.share(x.Y) {
			return false
		}
		if x.Op == token.MUL || x.Op == token.QUO || x.Op == token.SHR {
			q.scales = true
		}
		return true
	case *ast.CallExpr:
		name := p.CalleeName(x)
		if name == "len" {
			return len(x.Args) == 1 && syntax.LocalVar(p, x.Args[0]) == q.list
		}
		_, conversion := p.Conversion(x)
		for _, arg := range x.Args {
			if (conversion || name == "min" || name == "max" || name == "math.Ceil" || name == "math.Floor" || name == "math.Round") && q.share(arg) {
				return true
			}
		}
	case *ast.Ident:
		v := syntax.LocalVar(p, x)
		if v == nil || syntax.Param(p, v) || q.depth > 4 {
			return false
		}
		q.depth++
		defer func() { q.depth-- }()
		_, value := syntax.Declared(p, v)
		return value != nil && q.share(value)
	}
	return false
}
