package retainedsubstring

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// busyPeriods is how many times as many elements must be live as a queue takes between two times
// that it is empty.
const busyPeriods = 4

// pop is a statement that makes a list of pointers shorter and leaves the pointer in its array.
type pop struct {
	list *types.Var // the field or package variable; nil if the list is a type of its own
	typ  types.Type // of the list
	at   *gocode.Place
	stmt *ast.AssignStmt
	elem ast.Expr // the slot that is left; nil if it has no simple notation
}

// popped judges lines that make the elements of a queue or stack, which stay in memory after they
// were taken from it: its array still refers to them. That the queue is empty now and then, as
// counted, shows that they do not wait in it.
func popped(c *finder.Case) bool {
	live, objects := stacks.Sum(c.Live)
	if c.Pass.Counts == nil || objects < many || float64(live) < leastShare*float64(c.Pass.Table.Totals.LiveBytes) {
		return false
	}
	for _, t := range makes(c.Place) {
		for _, q := range pops(c.Place, t) {
			times, ok := evidence.ExecutionsAt(c.Pass, q.at, q.stmt.Pos())
			if !ok || times.PerUnit <= 0 || elsewhere(c.Place, t, q) {
				continue
			}
			empty := emptied(c.Pass, q)
			if empty <= 0 || float64(objects) < busyPeriods*times.PerUnit/empty {
				continue
			}
			q.describe(c, t, times.PerUnit/empty, live, objects)
			return true
		}
	}
	return false
}

func (q *pop) describe(c *finder.Case, t *types.Named, period float64, live, objects int64) {
	list := syntax.Text(q.stmt.Lhs[0])
	c.Confidence = rule.Likely
	c.Cause = fmt.Sprintf("%s makes %s shorter (%s) but leaves the pointer to the %s in its array, which keeps it in memory after it was taken. The list is empty again after %s, as counted, but %s are live: %s.",
		syntax.FuncName(q.at), list, syntax.Where(q.at, q.stmt.Pos()), t.Obj().Name(), units.Some(max(1, period), "removal"), units.Some(float64(objects), "object"), units.Bytes(float64(live)))
	slot := "the slot"
	if q.elem != nil {
		slot = syntax.Text(q.elem)
	}
	c.Fix = fmt.Sprintf("Set %s to nil before the list is made shorter, so that the array does not refer to what was taken.", slot)
	c.Evidence = []rule.Evidence{{
		What:    "live memory allocated by the line",
		Value:   fmt.Sprintf("%s in %d objects", units.Bytes(float64(live)), objects),
		Command: evidence.ListCommand(c.Pass, "inuse_space", c.Site.Function),
	}}
}

// makes returns the struct types of the package of which the line makes values or parts: those of
// the composite literals around it, and those that its function returns pointers to.
func makes(p *gocode.Place) (made []*types.Named) {
	add := func(t types.Type) {
		if n := structOf(t); n != nil && n.Obj().Pkg() == p.Pkg && !slices.Contains(made, n) {
			made = append(made, n)
		}
	}
	if p.Decl == nil {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && syntax.Line(p, lit.Pos()) <= p.Line && syntax.Line(p, lit.End()) >= p.Line {
			add(p.TypeOf(lit))
		}
		return true
	})
	if sig := signature(p); sig != nil {
		for v := range sig.Results().Variables() {
			add(v.Type())
		}
	}
	return made
}

// structOf returns the named struct type that a type is or points to; nil for none.
func structOf(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	if n == nil {
		return nil
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return nil
	}
	return n
}

// pops returns the statements of the package that remove the last element of a list of pointers to
// a type, or the first, and leave it in the array.
func pops(p *gocode.Place, t *types.Named) (found []*pop) {
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok {
					if q := popOf(in, a, t); q != nil && !clears(in, q) {
						found = append(found, q)
					}
				}
				return true
			})
		}
	}
	return found
}

// popOf returns what an assignment list = list[:n-1] or list = list[1:] removes; nil for others.
func popOf(p *gocode.Place, a *ast.AssignStmt, t *types.Named) *pop {
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return nil
	}
	s, ok := ast.Unparen(a.Rhs[0]).(*ast.SliceExpr)
	typ := p.TypeOf(a.Lhs[0])
	if !ok || typ == nil {
		return nil
	}
	ptr, ok := types.Unalias(elemOf(typ)).(*types.Pointer)
	if !ok || structOf(ptr) != t {
		return nil
	}
	q := &pop{typ: typ, at: p, stmt: a}
	from, _ := syntax.Var(p, syntax.Origin(p, s.X))
	to, _ := syntax.Var(p, a.Lhs[0])
	if from == nil || from != to || to.Parent() != nil && to.Parent() != p.Pkg.Scope() && !syntax.Param(p, to) {
		return nil
	}
	if sel, ok := ast.Unparen(a.Lhs[0]).(*ast.SelectorExpr); ok {
		q.list, _ = p.Object(sel.Sel).(*types.Var)
	} else if !syntax.Param(p, to) {
		q.list = to
	}
	zero := func(e ast.Expr) bool { n, ok := syntax.ConstInt(p, e); return e == nil || ok && n == 0 }
	switch {
	case s.High == nil && s.Low != nil:
		if n, ok := syntax.ConstInt(p, s.Low); !ok || n != 1 {
			return nil
		}
		q.elem = &ast.IndexExpr{X: s.X, Index: &ast.BasicLit{Kind: token.INT, Value: "0"}}
	case s.High != nil && (s.Low == nil || zero(s.Low)):
		minus, ok := ast.Unparen(syntax.Origin(p, s.High)).(*ast.BinaryExpr)
		if !ok || minus.Op != token.SUB {
			return nil
		}
		if n, ok := syntax.ConstInt(p, minus.Y); !ok || n != 1 {
			return nil
		}
		q.elem = &ast.IndexExpr{X: s.X, Index: s.High}
	default:
		return nil
	}
	return q
}

// elemOf returns the type of the elements of a list; an invalid type for others.
func elemOf(t types.Type) types.Type {
	if e := syntax.Elem(t); e != nil {
		return e
	}
	return types.Typ[types.Invalid]
}

// clears reports whether the function of a pop sets an element of a list of the same type to nil,
// or calls clear.
func clears(p *gocode.Place, q *pop) bool {
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				x, ok := ast.Unparen(lhs).(*ast.IndexExpr)
				if !ok || len(n.Lhs) != len(n.Rhs) || !types.Identical(elemOf(p.TypeOf(x.X)), elemOf(q.typ)) {
					continue
				}
				tv := p.Info.Types[n.Rhs[i]]
				_, variable := ast.Unparen(n.Rhs[i]).(*ast.Ident)
				found = found || tv.IsNil() || variable
			}
		case *ast.CallExpr:
			found = found || p.CalleeName(n) == "clear"
		}
		return !found
	})
	return found
}

// elsewhere reports whether the package has another place for values of the type: a field or a
// package variable whose type contains it, a call of a container that it is given to.
func elsewhere(p *gocode.Place, t *types.Named, q *pop) bool {
	self := types.TypeString(t, nil)
	other := func(v *types.Var) bool { return v != q.list && mentions(v.Type(), self, q.typ, 0) }
	scope := p.Pkg.Scope()
	for _, name := range scope.Names() {
		switch obj := scope.Lookup(name).(type) {
		case *types.Var:
			if other(obj) {
				return true
			}
		case *types.TypeName:
			s, ok := obj.Type().Underlying().(*types.Struct)
			for i := 0; ok && i < s.NumFields(); i++ {
				if other(s.Field(i)) {
					return true
				}
			}
		}
	}
	return false
}

// mentions reports whether a type refers to values of a struct type, or can: it is a container of
// any values. The type of the list itself does not count.
func mentions(t types.Type, name string, list types.Type, depth int) bool {
	if depth > 3 || types.Identical(t, list) && list != nil && isNamed(list) {
		return false
	}
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		full := types.TypeString(u, nil)
		return full == name || full == "sync.Map" || full == "container/list.List"
	case *types.Pointer:
		return mentions(u.Elem(), name, list, depth+1)
	case *types.Slice:
		return mentions(u.Elem(), name, list, depth+1)
	case *types.Array:
		return mentions(u.Elem(), name, list, depth+1)
	case *types.Map:
		return mentions(u.Key(), name, list, depth+1) || mentions(u.Elem(), name, list, depth+1)
	case *types.Chan:
		return mentions(u.Elem(), name, list, depth+1)
	case *types.Interface:
		return u.Empty()
	}
	return false
}

func isNamed(t types.Type) bool { _, ok := types.Unalias(t).(*types.Named); return ok }

// emptied returns how often the code of the package found the list empty for each unit of work, as
// counted: the branch of if len(list) == 0, or the end of for len(list) > 0.
func emptied(pass *rule.Pass, q *pop) (times float64) {
	for _, file := range q.at.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			in := q.at.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.IfStmt:
					if q.length(in, n.Cond, token.EQL) && len(n.Body.List) > 0 {
						if e, ok := evidence.ExecutionsAt(pass, in, n.Body.List[0].Pos()); ok {
							times += e.PerUnit
						}
					}
				case *ast.ForStmt:
					if n.Cond != nil && (q.length(in, n.Cond, token.GTR) || q.length(in, n.Cond, token.NEQ)) && !leaves(n.Body) {
						if e, ok := evidence.ExecutionsAt(pass, in, n.Pos()); ok && len(in.Enclosing(n)) > 0 {
							times += e.Calls
						}
					}
				}
				return true
			})
		}
	}
	return times
}

// leaves reports whether a loop's body may leave the loop.
func leaves(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		}
		return !found
	})
	return found
}

// length reports whether a condition compares the length of the list with 0.
func (q *pop) length(p *gocode.Place, cond ast.Expr, op token.Token) bool {
	cmp, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || cmp.Op != op {
		return false
	}
	if n, ok := syntax.ConstInt(p, cmp.Y); !ok || n != 0 {
		return false
	}
	call, ok := ast.Unparen(syntax.Origin(p, cmp.X)).(*ast.CallExpr)
	if !ok {
		return false
	}
	if p.CalleeName(call) == "len" {
		return q.is(p, call.Args[0])
	}
	recv := syntax.Receiver(call)
	decl := p.Declaration(p.Callee(call))
	if recv == nil || decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return false
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	inner, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr)
	return ok && p.CalleeName(inner) == "len" && q.is(p, inner.Args[0])
}

// is reports whether an expression is the list.
func (q *pop) is(p *gocode.Place, e ast.Expr) bool {
	if q.list != nil {
		return syntax.Named(p, e) == q.list
	}
	t := p.TypeOf(e)
	return t != nil && types.Identical(t, q.typ) && isNamed(q.typ)
}
