package sortunchanged

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// order collects what the order of a sort, or the elements of a list, depend on.
type order struct {
	keys  []*types.Var   // fields of the elements
	other bool           // something else: an argument of the call, state, or not known
	by    *ast.BlockStmt // compares two elements; nil when it is not in the package
	given []*types.Var   // parameters of the function that sorts, which are functions: its callers give the order
	in    *ast.FuncDecl  // the function that sorts
	seen  []*types.Func
}

// follow adds what code depends on, with the functions of its package that it calls. own reports
// whether a variable is an element, or belongs to the code.
func (o *order) follow(p *gocode.Place, code ast.Node, own func(*types.Var) bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			switch v, ok := p.Object(n).(*types.Var); {
			case !ok:
			case v.IsField():
				o.keys = append(o.keys, v)
			case !own(v) && !o.asked(p, v):
				o.other = true
			}
		case *ast.CallExpr:
			o.call(p, n)
		}
		return !o.other
	})
}

// asked notes a function that the function which sorts gets, and reports whether a variable is one.
func (o *order) asked(p *gocode.Place, v *types.Var) bool {
	if v == nil || o.in == nil || p.Decl != o.in || !syntax.Param(p, v) {
		return false
	}
	if _, function := v.Type().Underlying().(*types.Signature); !function {
		return false
	}
	if !slices.Contains(o.given, v) {
		o.given = append(o.given, v)
	}
	return true
}

func (o *order) call(p *gocode.Place, call *ast.CallExpr) {
	fn := p.Callee(call)
	if fn == nil && o.asked(p, syntax.LocalVar(p, call.Fun)) {
		return
	}
	if fn == nil {
		_, conversion := p.Conversion(call)
		o.other = o.other || !conversion && p.CalleeName(call) == ""
		return
	}
	decl := p.Declaration(fn)
	switch {
	case slices.Contains(o.seen, fn):
	case decl == nil || decl.Body == nil:
		o.other = o.other || effects.Impure(fn)
	default:
		o.seen = append(o.seen, fn)
		o.body(p.Entry(decl))
	}
}

// body adds what a function depends on.
func (o *order) body(p *gocode.Place) {
	o.follow(p, p.Decl.Body, func(v *types.Var) bool { return syntax.Inside(p.Decl, v.Pos()) })
}

// orderOf returns what the order of a sort depends on; false when that includes arguments of the
// call other than functions, or is not known.
func orderOf(p *gocode.Place, call *ast.CallExpr, list ast.Expr) (o order, ok bool) {
	if len(call.Args) < 2 {
		if fn := less(p, call); fn != nil {
			return byFunc(p, fn)
		}
		if sorts.Collected(p, call) != nil {
			list = call
		}
		return order{}, basicElements(p, list)
	}
	switch by := ast.Unparen(call.Args[len(call.Args)-1]).(type) {
	case *ast.FuncLit:
		sorted, _ := syntax.Var(p, list)
		o := order{by: by.Body, in: p.Decl}
		o.literal(p, by, sorted)
		return o, !o.other
	case *ast.Ident:
		if v := syntax.LocalVar(p, by); v != nil {
			o := order{in: p.Decl}
			return o, o.asked(p, v)
		}
		return named(p, call, list, by)
	case *ast.SelectorExpr:
		return named(p, call, list, by.Sel)
	}
	return order{}, false
}

// literal adds what a function literal depends on, which compares elements of a list.
func (o *order) literal(p *gocode.Place, lit *ast.FuncLit, list *types.Var) {
	o.follow(p, lit.Body, func(v *types.Var) bool { return v == list || syntax.Inside(lit, v.Pos()) })
}

// resolve adds what the functions depend on that a call gives to the function declared around a
// place. It reports false if that is more than the elements.
func (o *order) resolve(below, p *gocode.Place, call *ast.CallExpr) bool {
	for _, v := range o.given {
		switch by := ast.Unparen(syntax.OrBad(flow.ArgumentFor(below, call, v))).(type) {
		case *ast.FuncLit:
			o.literal(p, by, nil)
		case *ast.Ident:
			o.function(p, by)
		case *ast.SelectorExpr:
			o.function(p, by.Sel)
		default:
			return false
		}
	}
	o.given = nil
	return !o.other
}

// function adds what a function with a name depends on.
func (o *order) function(p *gocode.Place, by *ast.Ident) {
	fn, ok := p.Object(by).(*types.Func)
	if !ok || fn.Signature().Recv() != nil && fn.Pkg() != p.Pkg {
		o.other = true
		return
	}
	if decl := p.Declaration(fn.Origin()); decl != nil && decl.Body != nil {
		o.body(p.Entry(decl))
	}
}

// byFunc is orderOf for a sort by a function of the package.
func byFunc(p *gocode.Place, fn *types.Func) (order, bool) {
	decl := p.Declaration(fn)
	o := order{by: decl.Body, seen: []*types.Func{fn}}
	o.body(p.Entry(decl))
	return o, !o.other
}

// named is orderOf for a sort by a function with a name. A function of another package, such as
// cmp.Compare or strings.Compare, has no state.
func named(p *gocode.Place, call *ast.CallExpr, list ast.Expr, by *ast.Ident) (order, bool) {
	fn, ok := p.Object(by).(*types.Func)
	if !ok || fn.Signature().Recv() != nil {
		return order{}, false
	}
	decl := p.Declaration(fn.Origin())
	if decl == nil || decl.Body == nil {
		if sorts.Collected(p, call) != nil {
			list = call
		}
		return order{}, basicElements(p, list)
	}
	return byFunc(p, fn.Origin())
}

// less returns the method Less of the list that sort.Sort or sort.Stable gets, if the package
// declares it; nil for others.
func less(p *gocode.Place, call *ast.CallExpr) *types.Func {
	if name := p.CalleeName(call); name != "sort.Sort" && name != "sort.Stable" {
		return nil
	}
	list := ast.Unparen(call.Args[0])
	if c, ok := list.(*ast.CallExpr); ok && p.CalleeName(c) == "sort.Reverse" {
		list = ast.Unparen(c.Args[0])
	}
	t := p.TypeOf(list)
	if t == nil {
		return nil
	}
	if _, slice := t.Underlying().(*types.Slice); !slice {
		return nil // a struct may also hold how to compare
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, "Less")
	fn, _ := obj.(*types.Func)
	if fn == nil {
		return nil
	}
	if decl := p.Declaration(fn.Origin()); decl == nil || decl.Body == nil {
		return nil
	}
	return fn.Origin()
}

func basicElements(p *gocode.Place, list ast.Expr) bool {
	t, ok := p.TypeOf(list).Underlying().(*types.Slice)
	if !ok {
		return false
	}
	_, basic := t.Elem().Underlying().(*types.Basic)
	return basic
}

// straight reports whether a call runs in each call of its function, once.
func straight(p *gocode.Place, call *ast.CallExpr) bool {
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if !syntax.Within(n.X, call) {
				return false
			}
		case *ast.IfStmt:
			if syntax.Within(n.Body, call) || n.Else != nil && syntax.Within(n.Else, call) {
				return false
			}
		case *ast.ForStmt, *ast.FuncLit, *ast.CaseClause, *ast.CommClause:
			return false
		}
	}
	return true
}
