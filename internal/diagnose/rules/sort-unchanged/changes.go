package sortunchanged

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// order collects what the order of a sort, or the elements of a list, depend on.
type order struct {
	keys  []*types.Var   // fields of the elements
	other bool           // something else: an argument of the call, state, or not known
	by    *ast.BlockStmt // compares two elements; nil when it is not in the package
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
			case !own(v):
				o.other = true
			}
		case *ast.CallExpr:
			o.call(p, n)
		}
		return !o.other
	})
}

func (o *order) call(p *gocode.Place, call *ast.CallExpr) {
	fn := p.Callee(call)
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

// orderOf returns the fields that the order of a sort depends on, and the body of the function that
// compares, if the package has it; false when the order also depends on arguments of the call, or
// is not known.
func orderOf(p *gocode.Place, call *ast.CallExpr, list ast.Expr) (keys []*types.Var, by *ast.BlockStmt, ok bool) {
	if len(call.Args) < 2 {
		if fn := less(p, call); fn != nil {
			return byFunc(p, fn)
		}
		if sorts.Collected(p, call) != nil {
			list = call
		}
		return nil, nil, basicElements(p, list)
	}
	switch by := ast.Unparen(call.Args[len(call.Args)-1]).(type) {
	case *ast.FuncLit:
		o := order{}
		sorted, _ := syntax.Var(p, list)
		o.follow(p, by.Body, func(v *types.Var) bool { return v == sorted || syntax.Inside(by, v.Pos()) })
		return o.keys, by.Body, !o.other
	case *ast.Ident:
		return named(p, call, list, by)
	case *ast.SelectorExpr:
		return named(p, call, list, by.Sel)
	}
	return nil, nil, false
}

// byFunc is orderOf for a sort by a function of the package.
func byFunc(p *gocode.Place, fn *types.Func) ([]*types.Var, *ast.BlockStmt, bool) {
	decl := p.Declaration(fn)
	o := order{seen: []*types.Func{fn}}
	o.body(p.Entry(decl))
	return o.keys, decl.Body, !o.other
}

// named is orderOf for a sort by a function with a name. A function of another package, such as
// cmp.Compare or strings.Compare, has no state.
func named(p *gocode.Place, call *ast.CallExpr, list ast.Expr, by *ast.Ident) ([]*types.Var, *ast.BlockStmt, bool) {
	fn, ok := p.Object(by).(*types.Func)
	if !ok || fn.Signature().Recv() != nil {
		return nil, nil, false
	}
	decl := p.Declaration(fn.Origin())
	if decl == nil || decl.Body == nil {
		if sorts.Collected(p, call) != nil {
			list = call
		}
		return nil, nil, basicElements(p, list)
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
