package sortforfew

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// taken is how a few elements of a sorted list are read.
type taken struct {
	node  ast.Node
	text  string
	line  int
	count int64 // 0: not constant
	by    string
	// passing is true for the first element that passes a test.
	passing bool
	// rank is true for an element at a share of the length, such as the median.
	rank bool
	// split is true for a half that the function passes to itself.
	split bool
}

// number names how many elements are taken.
func (t *taken) number() string {
	if t.count > 0 {
		return fmt.Sprint(t.count)
	}
	return t.by
}

// uses judges what is read of a list after it was sorted.
type uses struct {
	pass  *rule.Pass
	frame *site.Frame // in the package
	place *gocode.Place
	v     *types.Var
	first *taken
	below int // calls that were followed
	// copied is true for the parameter of a function that gets a copy of a list that is kept.
	copied bool
	// stack begins with the frame of the function, if it is the one that sorts.
	stack []*site.Frame
}

// judge reports whether only a few elements are read after the call; first is the use that reads
// most. A list that the function returns as a whole is judged by how its callers use it.
func (u *uses) judge(call *ast.CallExpr) bool {
	p := u.place
	if u.looped(call) {
		return false // what is read before the call is sorted, too
	}
	reads := slices.DeleteFunc(syntax.Reads(p, u.v), func(id *ast.Ident) bool {
		return id.Pos() < call.End() || syntax.Exclusive(p, call, id)
	})
	return u.all(reads)
}

// all reports whether none of these uses reads more than a few elements.
func (u *uses) all(reads []*ast.Ident) bool {
	slices.SortFunc(reads, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	for _, id := range reads {
		cuts, ok := u.use(id)
		if !ok {
			return false
		}
		if cuts {
			break // what follows reads what was cut
		}
	}
	return true
}

// looped reports whether the list outlives an iteration of a loop around the call.
func (u *uses) looped(call *ast.CallExpr) bool {
	for _, loop := range loops.Around(u.place, call) {
		if !syntax.Inside(loop, u.v.Pos()) {
			return true
		}
	}
	return false
}

// takes reports whether an expression that is the list is used for a few elements.
func (u *uses) takes(list ast.Expr) bool {
	_, ok := u.use(list)
	return ok && u.first != nil
}

// use judges one use of the list. cuts says that it replaces the list by the few elements.
func (u *uses) use(list ast.Expr) (cuts, ok bool) {
	p := u.place
	if u.v != nil && u.shorter(list) {
		return false, true
	}
	switch n := syntax.Parent(p, list).(type) {
	case *ast.SliceExpr:
		if u.half(n) {
			u.take(n, count{n: 1})
			u.first.split = u.first.split || u.first.node == n
			return false, true
		}
		t, ok := fewIn(p, u.v, n)
		if !ok || ast.Unparen(n.X) != list {
			return false, false
		}
		u.take(n, t)
		to, _ := syntax.AssignedTo(p, n).(*ast.Ident)
		return to != nil && u.v != nil && p.Object(to) == u.v, true
	case *ast.IndexExpr:
		if ast.Unparen(n.X) != list || syntax.Defines(p, n) {
			return false, false
		}
		if _, constant := syntax.ConstInt(p, n.Index); constant || last(p, u.v, n.Index) {
			u.take(n, count{n: 1})
			return false, true
		}
		if u.middle(n) {
			return false, true
		}
		if u.quantile(n) {
			if u.first != nil && u.first.count == 1 && !u.first.rank {
				u.first = nil // the smallest and the largest are special cases of a share
			}
			u.take(n, count{n: 1})
			u.first.rank = u.first.rank || u.first.node == n
			return false, true
		}
		return false, u.bounded(n)
	case *ast.CallExpr:
		name := p.CalleeName(n)
		return false, name == "len" || name == "cap" || u.passed(n, list)
	case *ast.RangeStmt:
		return false, n.X == list && (u.breaks(n) || u.passes(n))
	case *ast.ReturnStmt:
		return false, u.callers(n)
	case *ast.BinaryExpr: // list == nil
		return false, n.Op == token.EQL || n.Op == token.NEQ
	}
	return false, false
}

// take records a use; the one that takes most represents all.
func (u *uses) take(n ast.Node, c count) {
	if u.first != nil && (u.first.count == 0 || c.n > 0 && c.n <= u.first.count) {
		return
	}
	t := &taken{node: n, line: syntax.Line(u.place, n.Pos()), count: c.n, by: c.by}
	switch n := n.(type) {
	case ast.Expr:
		t.text = syntax.Text(n)
	default:
		t.text = "the first " + t.number() + " elements"
	}
	u.first = t
}

// count is a number of elements: a constant, or how the source names it.
type count struct {
	n  int64
	by string
}

// fewIn reports whether a slice expression takes a few elements of the list: x[:k], x[len(x)-k:],
// x[i:i+k].
func fewIn(p *gocode.Place, v *types.Var, n *ast.SliceExpr) (count, bool) {
	switch {
	case n.Low == nil && n.High != nil:
		return fewOf(p, v, n.High)
	case n.Low != nil && n.High == nil:
		if b, ok := ast.Unparen(n.Low).(*ast.BinaryExpr); ok && b.Op == token.SUB && isLen(p, v, b.X) {
			return fewOf(p, v, b.Y)
		}
	case n.Low != nil && n.High != nil:
		if _, ok := syntax.ConstInt(p, n.Low); ok {
			return fewOf(p, v, n.High)
		}
		return page(p, v, n)
	}
	return count{}, false
}

// fewOf reports whether a number does not follow from the list's length, but for a limit.
func fewOf(p *gocode.Place, v *types.Var, e ast.Expr) (count, bool) {
	e = ast.Unparen(e)
	if k, ok := syntax.ConstInt(p, e); ok {
		return count{n: k, by: fmt.Sprint(k)}, k <= few
	}
	switch x := e.(type) {
	case *ast.CallExpr:
		if t, ok := p.Conversion(x); ok && len(x.Args) == 1 && t != nil {
			return fewOf(p, v, x.Args[0])
		}
		if p.CalleeName(x) == "min" {
			for _, arg := range x.Args {
				if c, ok := fewOf(p, v, arg); ok {
					return c, true
				}
			}
		}
	case *ast.SelectorExpr:
		return count{by: syntax.Text(x)}, limiting(x.Sel.Name)
	case *ast.Ident:
		obj, ok := p.Object(x).(*types.Var)
		if !ok {
			return count{}, false
		}
		if syntax.Param(p, obj) {
			return count{by: x.Name}, true
		}
		if !syntax.Local(p, obj) {
			return count{by: x.Name}, limiting(x.Name)
		}
		values := syntax.Assigned(p, obj)
		for _, value := range values {
			if id, ok := ast.Unparen(value).(*ast.Ident); ok && p.Object(id) == obj {
				continue
			}
			if c, ok := fewOf(p, v, value); ok && c.n != 0 {
				return c, true
			}
		}
		return count{by: x.Name}, len(values) == 0 && limiting(x.Name) // of several results: the parsed parameter of a request
	}
	return count{}, false
}

// limiting reports whether a name is one of those for a number of elements to take.
func limiting(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"limit", "top", "max", "count", "take", "keep", "pagesize", "perpage"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return name == "n" || name == "k"
}

// isLen reports whether an expression is len(v).
func isLen(p *gocode.Place, v *types.Var, e ast.Expr) bool {
	call, ok := syntax.Origin(p, e).(*ast.CallExpr)
	return ok && v != nil && p.CalleeName(call) == "len" && len(call.Args) == 1 && syntax.LocalVar(p, call.Args[0]) == v
}

// last reports whether an index is counted from the list's end: len(x)-1.
func last(p *gocode.Place, v *types.Var, e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.Op != token.SUB || !isLen(p, v, b.X) {
		return false
	}
	_, ok = syntax.ConstInt(p, b.Y)
	return ok
}

// bounded reports whether an element is read by the variable of a loop that runs a few times: for i
// := range k, for i := 0; i < k.
func (u *uses) bounded(n *ast.IndexExpr) bool {
	p := u.place
	i := syntax.LocalVar(p, n.Index)
	for _, loop := range loops.Around(p, n) {
		if i == nil || !syntax.Inside(loop, i.Pos()) {
			continue
		}
		switch l := loop.(type) {
		case *ast.RangeStmt:
			if c, ok := fewOf(p, u.v, l.X); ok {
				u.take(l, c)
				return true
			}
		case *ast.ForStmt:
			if c, ok := u.limited(l.Cond, i); ok {
				u.take(l, c)
				return true
			}
		}
		return false
	}
	return false
}

// limited reports whether a condition holds only while i is below a small number: i < k, also
// beside other conditions.
func (u *uses) limited(cond ast.Expr, i *types.Var) (count, bool) {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return count{}, false
	}
	switch b.Op {
	case token.LAND:
		if c, ok := u.limited(b.X, i); ok {
			return c, true
		}
		return u.limited(b.Y, i)
	case token.LSS, token.LEQ:
		if syntax.LocalVar(u.place, b.X) == i {
			return fewOf(u.place, u.v, b.Y)
		}
	}
	return count{}, false
}

// breaks reports whether a loop over the list ends after a few elements: its body exits when a
// counter reaches a small number.
func (u *uses) breaks(loop *ast.RangeStmt) bool {
	p := u.place
	for _, stmt := range loop.Body.List {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || len(test.Body.List) == 0 || !syntax.Departs(test.Body.List[len(test.Body.List)-1], true) {
			continue
		}
		b, ok := ast.Unparen(test.Cond).(*ast.BinaryExpr)
		if !ok || b.Op != token.GEQ && b.Op != token.GTR && b.Op != token.EQL {
			continue
		}
		if t, ok := p.TypeOf(b.X).(*types.Basic); !ok || t.Info()&types.IsInteger == 0 {
			continue
		}
		if !counts(p, loop, b.X) {
			continue
		}
		if c, ok := fewOf(p, u.v, b.Y); ok {
			u.take(loop, c)
			return true
		}
	}
	return false
}

// counts reports whether an expression counts iterations of a loop, or what they collected: its
// index, or len(out) of a list to which only the loop appends.
func counts(p *gocode.Place, loop *ast.RangeStmt, e ast.Expr) bool {
	if v := syntax.LocalVar(p, e); v != nil {
		key, _ := loop.Key.(*ast.Ident)
		return key != nil && p.Object(key) == v
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "len" || len(call.Args) != 1 {
		return false
	}
	out := syntax.LocalVar(p, call.Args[0])
	if out == nil || syntax.Param(p, out) {
		return false
	}
	appends := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && syntax.LocalVar(p, a.Lhs[0]) == out {
			value, isCall := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
			appends = appends || isCall && p.CalleeName(value) == "append"
		}
		return true
	})
	return appends
}

// callers reports whether all callers of the function that returns the list take a few of its
// elements.
func (u *uses) callers(ret *ast.ReturnStmt) bool {
	p := u.place
	if p.Decl == nil || len(ret.Results) != 1 {
		return false
	}
	for _, n := range p.Enclosing(ret) {
		if _, ok := n.(*ast.FuncLit); ok {
			return false // other code gets the result
		}
	}
	fn, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	if fn == nil || fn.Exported() && p.Pkg.Name() != "main" {
		return false // others may call it
	}
	found := 0
	for _, file := range p.Files() {
		fine := true
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || p.Info.Uses[id] != fn || !fine {
				return fine
			}
			at := p.Fset.Position(id.Pos())
			place, ok := u.pass.Syntax.At(path.Join(path.Dir(u.frame.File), filepath.Base(at.Filename)), at.Line)
			fine = ok && u.taker(place.Outer(), id)
			found++
			return fine
		})
		if !fine {
			return false
		}
	}
	return found > 0
}

// taker reports whether the call that an identifier is part of, in another function, takes a few
// elements of the result.
func (u *uses) taker(p *gocode.Place, id *ast.Ident) bool {
	for _, call := range p.Calls() {
		if fn := p.Callee(call); fn == nil || p.Info.Uses[id] != fn || !syntax.Within(call.Fun, id) {
			continue
		}
		of := uses{pass: u.pass, frame: u.frame, place: p}
		fine := false
		if v := syntax.LocalVar(p, syntax.AssignedTo(p, call)); v != nil {
			of.v = v
			fine = of.judge(call)
		} else {
			switch n := syntax.Parent(p, call).(type) {
			case *ast.SliceExpr:
				c, ok := fewIn(p, nil, n)
				if ok {
					of.take(n, c)
				}
				fine = ok
			case *ast.IndexExpr:
				_, fine = syntax.ConstInt(p, n.Index)
				of.take(n, count{n: 1})
			}
		}
		if fine && of.first != nil {
			if u.first == nil || u.first.count > 0 && of.first.count == 0 {
				u.first = of.first
			}
			return true
		}
	}
	return false
}
