package sortnotneeded

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// owner recognizes lists that nothing else has.
type owner struct{ syntax *gocode.Syntax }

// sorted reports whether only the function has a list that it sorts, and nothing reads it before in
// another iteration. A list that is a parameter belongs to the callers: none of them may have
// another use for it that needs the order.
func (u *uses) sorted(p *gocode.Place, v *types.Var, at ast.Node, depth int) bool {
	if repeated(p, at, v) || shared(p, v, at) {
		return false
	}
	o := owner{u.pass.Syntax}
	if !syntax.Param(p, v) {
		return o.fresh(p, v, 3)
	}
	fn, _ := p.Object(p.Decl.Name).(*types.Func)
	if depth == 0 || fn == nil || p.Func != p.Decl || fn.Signature().Variadic() {
		return false
	}
	i := syntax.ParamIndex(fn.Signature(), v)
	calls, ok := callsOf(u.pass.Syntax, p)
	if i < 0 || !ok || len(syntax.Assigned(p, v)) > 0 && !onlyCompacted(p, v) {
		return false
	}
	u.callers = true
	for _, c := range calls {
		arg := ast.Unparen(c.call.Args[i])
		passed := syntax.LocalVar(c.Place, arg)
		if passed == nil && !o.created(c.Place, nil, given{arg, 0}, 3) {
			return false
		}
		if passed != nil && (!u.sorted(c.Place, passed, c.call, depth-1) || !u.after(c.Place, passed, c.call)) {
			return false
		}
	}
	return true
}

// onlyCompacted reports whether a function sets a variable only to a part of the list that it is:
// list = slices.Compact(list).
func onlyCompacted(p *gocode.Place, v *types.Var) bool {
	return !slices.ContainsFunc(syntax.Assigned(p, v), func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		return !ok || !funcname.Match(p.CalleeName(call), "slices.Compact*", "slices.DeleteFunc") || syntax.LocalVar(p, call.Args[0]) != v
	})
}

// given is a value that a variable is set to: an expression, or one of the results of a call.
type given struct {
	ast.Expr
	index int
}

// values returns what a function sets a variable to. It reports false if it is set in another way.
func values(p *gocode.Place, v *types.Var) (all []given, ok bool) {
	ok = true
	add := func(to, from []ast.Expr) {
		for i, lhs := range to {
			if syntax.LocalVar(p, lhs) != v {
				continue
			}
			switch {
			case len(from) == len(to):
				all = append(all, given{from[i], 0})
			case len(from) == 1:
				all = append(all, given{from[0], i})
			}
		}
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			add(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, id := range n.Names {
				names = append(names, id)
			}
			add(names, n.Values)
		case *ast.RangeStmt:
			ok = ok && (n.Key == nil || syntax.LocalVar(p, n.Key) != v) && (n.Value == nil || syntax.LocalVar(p, n.Value) != v)
		}
		return ok
	})
	return all, ok
}

// fresh reports whether a list was created by the function, or by one of the program that returns
// only new lists, and is not stored anywhere else.
func (o owner) fresh(p *gocode.Place, v *types.Var, depth int) bool {
	from, ok := values(p, v)
	return ok && !syntax.Param(p, v) && !slices.ContainsFunc(from, func(g given) bool { return !o.created(p, v, g, depth) })
}

func (o owner) created(p *gocode.Place, v *types.Var, g given, depth int) bool {
	switch x := ast.Unparen(g.Expr).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		if other := syntax.LocalVar(p, x); other != nil && other != v && depth > 0 {
			return o.fresh(p, other, depth-1) && !keeps(p, other, v)
		}
		return x.Name == "nil" || syntax.LocalVar(p, x) == v && v != nil
	case *ast.SliceExpr:
		return o.created(p, v, given{x.X, 0}, depth)
	case *ast.CallExpr:
		name := p.CalleeName(x)
		switch {
		case name == "append":
			return syntax.LocalVar(p, x.Args[0]) == v && v != nil || o.created(p, v, given{x.Args[0], 0}, depth)
		case funcname.Match(name, "slices.Compact*", "slices.DeleteFunc", "slices.Clip", "slices.Grow"):
			return o.created(p, v, given{x.Args[0], 0}, depth)
		case funcname.Match(name, "make", "slices.Clone", "slices.Concat", "slices.Collect", "slices.Sorted*", "golang.org/x/exp/maps.Keys", "golang.org/x/exp/maps.Values", "strings.Split*", "strings.Fields*",
			"(*regexp.Regexp).FindAll*", "os.ReadDir", "path/filepath.Glob"):
			return true
		}
		if _, conversion := p.Conversion(x); conversion {
			return o.created(p, v, given{x.Args[0], 0}, depth)
		}
		return depth > 0 && o.returns(p, p.Callee(x), g.index, depth-1)
	}
	return false
}

// returns reports whether a function of the program returns nothing but lists that it created. For
// a method of an interface, all methods of the program that implement it count.
func (o owner) returns(p *gocode.Place, fn *types.Func, index, depth int) bool {
	if fn == nil {
		return false
	}
	if in, ok := o.syntax.Declared(fn); ok {
		return in.Decl != nil && in.Decl.Body != nil && o.returnsNew(in.Entry(in.Decl), index, depth)
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return false
	}
	i, ok := recv.Type().Underlying().(*types.Interface)
	if !ok || fn.Pkg() == nil || fn.Pkg() != p.Pkg {
		return false
	}
	found := false
	for _, in := range o.syntax.Methods(fn.Name()) {
		m, ok := in.Object(in.Decl.Name).(*types.Func)
		if !ok || !types.Implements(m.Signature().Recv().Type(), i) {
			continue
		}
		if found = o.returnsNew(in, index, depth); !found {
			return false
		}
	}
	return found
}

// returnsNew reports whether one of the results of a function is always a list that it created.
func (o owner) returnsNew(p *gocode.Place, index, depth int) bool {
	fine, found := true, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
			if len(n.Results) <= index {
				call, ok := first(n.Results).(*ast.CallExpr)
				fine = fine && ok && len(n.Results) == 1 && o.created(p, nil, given{call, index}, depth)
				return false
			}
			e := n.Results[index]
			if v := syntax.LocalVar(p, e); v != nil {
				fine = fine && o.fresh(p, v, depth) && !keeps(p, v, nil)
			} else {
				fine = fine && o.created(p, nil, given{e, 0}, depth)
			}
		}
		return fine
	})
	return fine && found
}

func first(list []ast.Expr) ast.Expr {
	if len(list) == 0 {
		return nil
	}
	return ast.Unparen(list[0])
}

// keeps reports whether a function stores a list somewhere, such as in a cache, but for a variable.
func keeps(p *gocode.Place, v, but *types.Var) bool {
	return slices.ContainsFunc(syntax.Uses(p, v), func(id *ast.Ident) bool {
		a, ok := syntax.Parent(p, id).(*ast.AssignStmt)
		i := -1
		if ok {
			i = slices.Index(a.Rhs, ast.Expr(id))
		}
		return i >= 0 && (but == nil || len(a.Lhs) != len(a.Rhs) || syntax.LocalVar(p, a.Lhs[i]) != but)
	})
}

// shared reports whether something else may have the list before it is sorted: it was stored, or
// passed to a function that may keep it.
func shared(p *gocode.Place, v *types.Var, at ast.Node) bool {
	for _, id := range syntax.Uses(p, v) {
		if id.Pos() >= at.Pos() || syntax.Defines(p, id) || syntax.Exclusive(p, id, at) {
			continue
		}
		switch n := syntax.Parent(p, id).(type) {
		case *ast.CallExpr:
			if keepsArgument(p, n, id) {
				return true
			}
		case *ast.IndexExpr, *ast.BinaryExpr, *ast.RangeStmt, *ast.ValueSpec, *ast.Field:
		case *ast.AssignStmt:
			if p.Info.Defs[id] == nil {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// keepsArgument reports whether a call may keep a list that it gets, or return it.
func keepsArgument(p *gocode.Place, call *ast.CallExpr, list *ast.Ident) bool {
	switch name := p.CalleeName(call); name {
	case "len", "cap", "copy":
		return false
	case "append":
		return ast.Unparen(call.Args[0]) != ast.Expr(list) && !call.Ellipsis.IsValid()
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || !effects.ChangesNothing(p.Entry(decl)) {
		return true
	}
	for r := range fn.Signature().Results().Variables() {
		if !syntax.PlainData(r.Type()) && !syntax.IsError(r.Type()) {
			return true
		}
	}
	return false
}
