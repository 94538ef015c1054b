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
	"github.com/hone-go/hone/profile/symbol"
)

// deepest is the number of functions and lists that a list is followed to.
const deepest = 6

// uses judges what is done with a list after it was sorted.
type uses struct {
	pass    *rule.Pass
	does    string        // what reads it
	again   *ast.CallExpr // another sort
	where   string        // of that
	callers bool          // the function returns the list
	single  bool          // equal elements are removed, which needs them to be neighbours
	loops   []ast.Node    // those over the list that need no order
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
	u.depth++
	if u.depth > deepest {
		return false
	}
	if i := result(p, v); i >= 0 && !u.returned(p, i) || i < 0 && syntax.IsResult(p, v) {
		return false
	}
	reads := slices.DeleteFunc(syntax.Uses(p, v), func(id *ast.Ident) bool {
		if syntax.FuncAround(p, id) != syntax.FuncAround(p, from) {
			return syntax.Inside(from, id.Pos()) // in a literal that may run later
		}
		return id.Pos() < from.End() || syntax.Exclusive(p, from, id) || syntax.Defines(p, id)
	})
	slices.SortFunc(reads, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	for _, id := range reads {
		if syntax.FuncAround(p, id) != syntax.FuncAround(p, from) {
			return false
		}
		if call := u.sortedAgain(p, id); call != nil {
			if syntax.Block(p, call) != syntax.Block(p, from) || u.single {
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

// result returns the index of a variable among the results of the declared function around a place;
// -1 for others.
func result(p *gocode.Place, v *types.Var) int {
	fn, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok || p.Func != p.Decl {
		return -1
	}
	for i := range fn.Signature().Results().Len() {
		if fn.Signature().Results().At(i) == v {
			return i
		}
	}
	return -1
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
		return ast.Unparen(n.X) == ast.Unparen(e) && u.loop(p, n)
	case *ast.IndexExpr: // an element in a loop that was judged as one over the list
		return n.X == e && u.current(p, n)
	case *ast.SelectorExpr:
		call, ok := syntax.Parent(p, n).(*ast.CallExpr)
		return ok && call.Fun == ast.Expr(n) && u.passed(p, call, e)
	case *ast.CallExpr:
		return u.passed(p, n, e)
	case *ast.AssignStmt, *ast.ValueSpec:
		return u.assigned(p, n, syntax.AssignedTo(p, e))
	case *ast.ReturnStmt:
		return u.returned(p, slices.Index(n.Results, e))
	}
	return false
}

// assigned reports whether no use of a variable to which the list is assigned needs its order.
func (u *uses) assigned(p *gocode.Place, stmt ast.Node, to ast.Expr) bool {
	if id, ok := to.(*ast.Ident); ok && id.Name == "_" {
		return true
	}
	v := syntax.LocalVar(p, to)
	return v != nil && !repeated(p, stmt, v) && u.after(p, v, stmt)
}

// called reports whether no use of one of the results of a call, which is the list, needs its
// order.
func (u *uses) called(p *gocode.Place, call *ast.CallExpr, index int) bool {
	if tuple, ok := p.TypeOf(call).(*types.Tuple); !ok || tuple.Len() < 2 {
		return u.value(p, call)
	}
	switch n := syntax.Parent(p, call).(type) {
	case *ast.AssignStmt:
		return u.assigned(p, n, n.Lhs[index])
	case *ast.ValueSpec:
		return u.assigned(p, n, n.Names[index])
	case *ast.ReturnStmt:
		return u.returned(p, index)
	}
	return false
}

// passed reports whether a call that gets the list does not need its order.
func (u *uses) passed(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	name := p.CalleeName(call)
	switch {
	case name == "len" || name == "cap":
		return !u.single
	case funcname.Match(name, "slices.Contains*", "slices.Max", "slices.Min"):
		u.note(p, call, symbol.Short(name)+" reads it")
		return true
	case funcname.Match(name, "slices.Values", "maps.Keys", "slices.Clone"):
		return u.value(p, call)
	case name == "slices.Compact": // equal elements have to be neighbours, unless they change nothing
		u.single = true
		return u.value(p, call)
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || fn.Signature().Variadic() {
		return false
	}
	in, sig := p.Entry(decl), fn.Origin().Signature()
	for i, arg := range call.Args {
		if ast.Unparen(arg) == e {
			return u.after(in, sig.Params().At(i), decl.Type)
		}
	}
	return syntax.Receiver(call) == e && u.after(in, sig.Recv(), decl.Type)
}

// returned reports whether no caller of the function around a place needs the order of the list
// that is one of its results.
func (u *uses) returned(p *gocode.Place, index int) bool {
	if p.Func != p.Decl || u.depth > deepest {
		return false
	}
	u.callers = true
	calls, ok := callsOf(u.pass.Syntax, p)
	for _, c := range calls {
		u.depth++
		if ok = ok && u.called(c.Place, c.call, index); !ok {
			return false
		}
	}
	return ok
}

// call is a call of a function of the program, with the place of the declaration around it.
type call struct {
	*gocode.Place
	call *ast.CallExpr
}

// callsOf returns the calls of the function declared around a place. It reports false if the
// function may be called elsewhere, or in another way.
func callsOf(s *gocode.Syntax, p *gocode.Place) (all []call, ok bool) {
	fn, _ := p.Object(p.Decl.Name).(*types.Func)
	if fn == nil || fn.Exported() && p.Pkg.Name() != "main" || dynamic(p, fn) {
		return nil, false
	}
	named := 0
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if used, ok := p.Info.Uses[id].(*types.Func); ok && used.Origin() == fn {
					named++
				}
			}
			return true
		})
	}
	seen := map[*ast.CallExpr]bool{} // a place is a line, which may call twice
	for _, in := range s.Calls(func(f *types.Func) bool { return f == fn }) {
		if in.Decl == nil || in.Decl.Body == nil {
			return nil, false
		}
		for _, c := range syntax.Calls(in) {
			if f := in.Callee(c); f != nil && f.Origin() == fn && !seen[c] {
				seen[c] = true
				all = append(all, call{in.Outer(), c})
			}
		}
	}
	return all, len(all) > 0 && len(all) == named
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
