package sortnotneeded

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of functions and lists that a list is followed to.
const deepest = 3

// uses judges what is done with a list after it was sorted.
type uses struct {
	pass    *rule.Pass
	does    string        // what reads it
	again   *ast.CallExpr // another sort
	where   string        // of that
	callers bool          // the function returns the list
	depth   int
}

// known reports whether something reads the list.
func (u *uses) known() bool { return u.does != "" || u.again != nil }

func (u *uses) note(p *gocode.Place, n ast.Node, does string) {
	if u.does == "" {
		u.does = fmt.Sprintf("%s (%s)", does, syntax.Where(p, n.Pos()))
	}
}

// after reports whether no use of a variable after a node needs the order of its elements. What
// comes after another sort of all elements does not count.
func (u *uses) after(p *gocode.Place, v *types.Var, from ast.Node) bool {
	if syntax.IsResult(p, v) || u.depth > deepest {
		return false
	}
	reads := slices.DeleteFunc(syntax.Uses(p, v), func(id *ast.Ident) bool {
		return id.Pos() < from.End() || syntax.Exclusive(p, from, id)
	})
	slices.SortFunc(reads, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	for _, id := range reads {
		if syntax.FuncAround(p, id) != syntax.FuncAround(p, from) {
			return false // it may run later
		}
		if call := u.sortedAgain(p, id); call != nil {
			if syntax.Block(p, call) != syntax.Block(p, from) {
				return false // only on one path
			}
			u.again, u.where = call, syntax.Where(p, call.Pos())
			return true
		}
		if !u.value(p, id) {
			return false
		}
	}
	return true
}

// sortedAgain returns the call that sorts all of a list again, and does not keep the order of equal
// elements; nil for others.
func (u *uses) sortedAgain(p *gocode.Place, id *ast.Ident) *ast.CallExpr {
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if list := sorts.List(p, n); list != nil && ast.Unparen(list) == ast.Expr(id) {
				if funcname.Match(p.CalleeName(n), "sort.Stable", "sort.SliceStable", "slices.SortStable*") {
					return nil
				}
				return n
			}
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

// value reports whether the use of a value that is the list does not need its order.
func (u *uses) value(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.ParenExpr:
		return u.value(p, n)
	case *ast.BinaryExpr: // list == nil
		return n.Op == token.EQL || n.Op == token.NEQ
	case *ast.RangeStmt:
		return ast.Unparen(n.X) == e && u.loop(p, n)
	case *ast.CallExpr:
		return u.passed(p, n, e)
	case *ast.AssignStmt:
		v := syntax.LocalVar(p, syntax.AssignedTo(p, e))
		if v == nil || syntax.Param(p, v) || len(syntax.Assigned(p, v)) > 1 || repeated(p, n, v) {
			return false
		}
		u.depth++
		return u.after(p, v, n)
	case *ast.ReturnStmt:
		return len(n.Results) == 1 && u.returned(p, n)
	}
	return false
}

// passed reports whether a call that gets the list does not need its order.
func (u *uses) passed(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	name := p.CalleeName(call)
	switch {
	case name == "len" || name == "cap":
		return true
	case funcname.Match(name, "slices.Contains*", "slices.Max", "slices.Min"):
		u.note(p, call, funcname.Short(name)+" reads it")
		return true
	case funcname.Match(name, "slices.Values", "maps.Keys"):
		return u.value(p, call)
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || fn.Signature().Variadic() || u.depth > deepest {
		return false
	}
	for i, arg := range call.Args {
		if ast.Unparen(arg) == e {
			in := p.Entry(decl)
			u.depth++
			return u.after(in, fn.Signature().Params().At(i), decl.Type)
		}
	}
	return false
}

// returned reports whether no caller of the function that returns the list needs its order.
func (u *uses) returned(p *gocode.Place, ret *ast.ReturnStmt) bool {
	fn, _ := p.Object(p.Decl.Name).(*types.Func)
	_, literal := syntax.FuncAround(p, ret).(*ast.FuncLit)
	if fn == nil || literal || fn.Exported() && p.Pkg.Name() != "main" || u.depth > deepest || dynamic(p, fn) {
		return false
	}
	u.callers = true
	named, called := 0, 0
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] == types.Object(fn) {
				named++
			}
			return true
		})
	}
	for _, in := range u.pass.Syntax.CallsOf(fn.FullName()) {
		if in.Decl == nil || in.Decl.Body == nil {
			return false
		}
		outer := in.Outer()
		for _, call := range syntax.Calls(in) {
			if in.Callee(call) != fn {
				continue
			}
			called++
			u.depth++
			if !u.value(outer, call) {
				return false
			}
		}
	}
	return called > 0 && called == named
}

// dynamic reports whether a method may be called through an interface of its package.
func dynamic(p *gocode.Place, fn *types.Func) bool {
	if fn.Signature().Recv() == nil {
		return false
	}
	scope := p.Pkg.Scope()
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if i, ok := t.Type().Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				if m.Name() == fn.Name() {
					return true
				}
			}
		}
	}
	return false
}

// repeated reports whether a loop repeats a node without declaring a list again, so that what is
// before the node in the source may read the list after it.
func repeated(p *gocode.Place, n ast.Node, v *types.Var) bool {
	return slices.ContainsFunc(loops.Around(p, n), func(loop ast.Node) bool { return !syntax.Inside(loop, v.Pos()) })
}

// shared reports whether something else may have the list before it is sorted: it was stored, or
// passed to a function.
func shared(p *gocode.Place, v *types.Var, call *ast.CallExpr) bool {
	for _, id := range syntax.Uses(p, v) {
		if id.Pos() >= call.Pos() || syntax.Defines(p, id) {
			continue
		}
		switch n := syntax.Parent(p, id).(type) {
		case *ast.CallExpr:
			if name := p.CalleeName(n); name != "append" && name != "len" && name != "cap" && name != "copy" || name == "append" && ast.Unparen(n.Args[0]) != ast.Expr(id) && !n.Ellipsis.IsValid() {
				return true
			}
		case *ast.IndexExpr, *ast.BinaryExpr, *ast.RangeStmt, *ast.ValueSpec:
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

// fresh reports whether a list was created by the function, or by one of the package that returns
// only new lists, and is not stored anywhere else.
func fresh(p *gocode.Place, v *types.Var, depth int) bool {
	for _, e := range syntax.Assigned(p, v) {
		if !created(p, v, e, depth) {
			return false
		}
	}
	return !syntax.Param(p, v)
}

func created(p *gocode.Place, v *types.Var, e ast.Expr, depth int) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		return x.Name == "nil"
	case *ast.CallExpr:
		name := p.CalleeName(x)
		if name == "append" {
			return syntax.LocalVar(p, x.Args[0]) == v || syntax.EmptySlice(p, x.Args[0])
		}
		if funcname.Match(name, "make", "slices.Clone", "slices.Collect", "slices.Sorted*", "golang.org/x/exp/maps.Keys", "golang.org/x/exp/maps.Values", "strings.Split*", "strings.Fields") {
			return true
		}
		decl := p.Declaration(p.Callee(x))
		return depth > 0 && decl != nil && decl.Body != nil && returnsNew(p.Entry(decl), depth-1)
	}
	return false
}

// returnsNew reports whether a function returns nothing but lists that it created.
func returnsNew(p *gocode.Place, depth int) bool {
	fine, found := true, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				fine = false
				return false
			}
			found = true
			if v := syntax.LocalVar(p, n.Results[0]); v != nil {
				fine = fine && fresh(p, v, depth) && !keeps(p, v)
			} else {
				fine = fine && created(p, nil, n.Results[0], depth)
			}
		}
		return fine
	})
	return fine && found
}

// keeps reports whether a function stores a list somewhere, such as in a cache.
func keeps(p *gocode.Place, v *types.Var) bool {
	return slices.ContainsFunc(syntax.Uses(p, v), func(id *ast.Ident) bool {
		a, ok := syntax.Parent(p, id).(*ast.AssignStmt)
		return ok && slices.Contains(a.Rhs, ast.Expr(id))
	})
}
