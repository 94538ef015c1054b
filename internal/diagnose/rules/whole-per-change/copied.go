package wholeperchange

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// copied is a copy of a collection that replaces it after a few changes.
type copied struct {
	next     *types.Var    // the copy, or a struct that has it in a field
	from     ast.Expr      // the original
	made     *ast.CallExpr // that creates the copy
	by       ast.Node      // what copies the elements: the same call, another, or a loop
	of       types.Type    // of the collection
	elements float64       // of each copy; 0 if the allocations show it
	copies   float64       // for each unit of work
	// returned is the parameter or receiver that has the original, if the function returns the
	// copy; nil otherwise.
	returned *types.Var
}

// copiedAt returns the copy that a line makes, or a part of it; nil for none.
func (s *search) copiedAt(f *site.Frame, p *gocode.Place) *copied {
	if p.Decl == nil {
		return nil
	}
	var found *copied
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && found == nil && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if c := copyOf(p, a); c != nil && c.on(p) {
				found = c
			}
		}
		return found == nil
	})
	if found == nil || !found.replaces(p) {
		return nil
	}
	loop, ok := found.by.(*ast.RangeStmt)
	if !ok {
		e, _ := evidence.ExecutionsAt(s.pass, p, found.by.Pos())
		found.copies = e.PerUnit
		return found
	}
	l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	least := float64(leastElements)
	if found.returned != nil {
		least = leastAdditions / 4 // a loop may build it
	}
	if !ok || l.Iterations < least {
		return nil
	}
	found.elements, found.copies = l.Iterations, l.Entries
	return found
}

// on reports whether the line is one of the copy.
func (c *copied) on(p *gocode.Place) bool {
	for _, n := range []ast.Node{c.made, c.by} {
		if syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End()) {
			return true
		}
	}
	return false
}

// copyOf returns the copy that an assignment to a new variable makes or starts; nil for none.
func copyOf(p *gocode.Place, a *ast.AssignStmt) *copied {
	next := syntax.LocalVar(p, a.Lhs[0])
	part := false
	if next == nil { // c := *x; c.m = maps.Clone(x.m)
		if next, part = syntax.Var(p, a.Lhs[0]); next == nil || syntax.Param(p, next) || !syntax.Local(p, next) {
			return nil
		}
	}
	for _, call := range creating(a.Rhs[0]) {
		c := &copied{next: next, made: call, by: call, of: typeOf(p, call)}
		if p.CalleeName(call) == "make" || makes(p, call) {
			c.from, c.by = c.filled(p)
		} else {
			c.from = cloned(p, call)
		}
		if c.from == nil {
			if c.from, c.of = copiedBelow(p, call); c.from != nil {
				c.by = call
			}
		}
		if c.from != nil && (!part || ofParam(p, c.from)) {
			return c
		}
	}
	return nil
}

// creating returns a call, or the calls that give fields of a struct literal their values.
func creating(e ast.Expr) (calls []*ast.CallExpr) {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return []*ast.CallExpr{x}
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if call, ok := ast.Unparen(elt).(*ast.CallExpr); ok {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// is reports whether an expression is the copy: the variable, or a field of it.
func (c *copied) is(p *gocode.Place, e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		v, _ := syntax.Var(p, e)
		return v == c.next && types.Identical(typeOf(p, e), c.of)
	}
	return false
}

func typeOf(p *gocode.Place, e ast.Expr) types.Type {
	if t := p.TypeOf(e); t != nil {
		return t.Underlying()
	}
	return types.Typ[types.Invalid]
}

// cloned returns what a call copies as a whole.
func cloned(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	switch p.CalleeName(call) {
	case "maps.Clone", "slices.Clone":
		return call.Args[0]
	case "(net/http.Header).Clone":
		return syntax.Receiver(call)
	case "append":
		if inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok && len(call.Args) > 1 {
			if _, conversion := p.Conversion(inner); !conversion {
				return cloned(p, inner) // append(slices.Clone(xs), x)
			}
		}
		if s, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); ok && s.Slice3 && s.Low == nil {
			return s.X // append(xs[:n:n], x)
		}
		if len(call.Args) == 2 && call.Ellipsis.IsValid() {
			return call.Args[1] // append([]T(nil), xs...)
		}
	}
	return nil
}

// filled returns what the new collection is filled with, and the statement that does it.
func (c *copied) filled(p *gocode.Place) (from ast.Expr, by ast.Node) {
	is := func(e ast.Expr) bool { return c.is(p, e) }
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if name := p.CalleeName(n); (name == "copy" || name == "maps.Copy" || name == "append" && n.Ellipsis.IsValid()) && len(n.Args) == 2 && is(n.Args[0]) {
				from, by = n.Args[1], n
			}
		case *ast.RangeStmt:
			if to := copiedTo(p, n); to != nil && by == nil && is(to) {
				from, by = n.X, n
			}
		}
		return true
	})
	return from, by
}

// copiedTo returns the collection whose element k a loop sets to the element k of another, if that
// is all that it does; nil for other loops.
func copiedTo(p *gocode.Place, loop *ast.RangeStmt) ast.Expr {
	if len(loop.Body.List) != 1 {
		return nil
	}
	a, ok := loop.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	to, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
	if !ok || !same(p, to.Index, loop.Key) {
		return nil
	}
	return to.X
}

func same(p *gocode.Place, a, b ast.Expr) bool {
	if a == nil || b == nil {
		return false
	}
	v := syntax.LocalVar(p, a)
	return v != nil && v == syntax.LocalVar(p, b)
}

// replaces reports whether the copy is changed in a few places, outside of loops of its own, and
// replaces what it was copied from.
func (c *copied) replaces(p *gocode.Place) bool {
	holder := holderOf(p, c.from, 4)
	root, _ := syntax.Var(p, c.from)
	changed, stored, few := c.grown(p), false, true
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == c.by {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if c.changes(p, n, lhs) {
					changed, few = true, few && c.once(p, n)
				}
				if root, _ := syntax.Var(p, lhs); holder != nil && root != c.next && syntax.Named(p, lhs) == holder && c.in(p, n.Rhs[min(i, len(n.Rhs)-1)]) {
					stored = true
				}
			}
		case *ast.CallExpr:
			if c.changedBy(p, n) {
				changed, few = true, few && c.once(p, n)
			}
			stored = stored || c.storedBy(p, n, holder)
		case *ast.ReturnStmt:
			if root != nil && syntax.Param(p, root) && len(n.Results) > 0 && c.in(p, n.Results[0]) {
				c.returned = root
				changed = changed || c.appended(p, n.Results[0])
			}
		}
		return true
	})
	if stored {
		c.returned = nil
	}
	return changed && few && (stored || c.returned != nil)
}

// grown reports whether the copy itself has more elements than the original: append(clone, x).
func (c *copied) grown(p *gocode.Place) bool {
	return p.CalleeName(c.made) == "append" && !c.made.Ellipsis.IsValid()
}

// changes reports whether an assignment changes an element of the copy, or appends to it.
func (c *copied) changes(p *gocode.Place, a *ast.AssignStmt, lhs ast.Expr) bool {
	if to, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		return c.is(p, to.X)
	}
	if !c.is(p, lhs) || len(a.Rhs) != 1 {
		return false
	}
	return c.appended(p, a.Rhs[0])
}

// appended reports whether an expression appends to the copy.
func (c *copied) appended(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && call != c.made && p.CalleeName(call) == "append" && c.is(p, call.Args[0])
}

// changedBy reports whether a call removes or sets an element of the copy.
func (c *copied) changedBy(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	if recv := syntax.Receiver(call); recv != nil {
		return funcname.Match(name, "(net/http.Header).Set", "(net/http.Header).Add", "(net/http.Header).Del") && c.is(p, recv)
	}
	return name == "delete" && c.is(p, call.Args[0])
}

// once reports whether a change runs at most once for each copy: no loop is around it alone.
func (c *copied) once(p *gocode.Place, n ast.Node) bool {
	for _, loop := range loops.Around(p, n) {
		if !syntax.Within(loop, c.by) {
			return false
		}
	}
	return true
}

// in reports whether an expression contains the copy, or a variable that was given it.
func (c *copied) in(p *gocode.Place, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found {
			return !found
		}
		v, ok := p.Object(id).(*types.Var)
		if !ok || v.IsField() {
			return true
		}
		if v == c.next {
			found = true
			return false
		}
		if lit := literal(p, v); lit != nil && lit.Pos() > c.made.Pos() {
			found = c.in(p, lit)
		}
		return !found
	})
	return found
}

// literal returns the struct literal that a local variable is declared with; nil for others.
func literal(p *gocode.Place, v *types.Var) ast.Expr {
	_, value := syntax.Declared(p, v)
	if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = u.X
	}
	if lit, ok := value.(*ast.CompositeLit); ok {
		return lit
	}
	return nil
}

// storedBy reports whether a call stores the copy where the original is: p.Store(&next).
func (c *copied) storedBy(p *gocode.Place, call *ast.CallExpr, holder *types.Var) bool {
	if !stores(p, call, holder) {
		return false
	}
	for _, arg := range call.Args {
		if c.in(p, arg) {
			return true
		}
	}
	return false
}

// stores reports whether a call stores something in an atomic variable.
func stores(p *gocode.Place, call *ast.CallExpr, holder *types.Var) bool {
	recv := syntax.Receiver(call)
	return recv != nil && holder != nil && syntax.Named(p, recv) == holder &&
		funcname.Match(p.CalleeName(call), "*).Store", "*).Swap", "*).CompareAndSwap")
}

// holderOf returns the field or package variable that has the value of an expression, or the
// atomic variable that it was loaded from; nil for others.
func holderOf(p *gocode.Place, e ast.Expr, steps int) *types.Var {
	if e == nil || steps == 0 {
		return nil
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := p.Object(x).(*types.Var)
		if v == nil || v.Parent() == p.Pkg.Scope() {
			return v
		}
		stmt, value := syntax.Declared(p, v)
		if a, ok := stmt.(*ast.AssignStmt); ok && value == nil && len(a.Rhs) == 1 {
			value = a.Rhs[0] // m, ok := v.Load().(map[string]int)
		}
		return holderOf(p, value, steps-1)
	case *ast.StarExpr:
		return holderOf(p, x.X, steps)
	case *ast.TypeAssertExpr:
		return holderOf(p, x.X, steps)
	case *ast.SelectorExpr:
		if root := syntax.LocalVar(p, x.X); root != nil && !syntax.Param(p, root) {
			return holderOf(p, x.X, steps-1) // of a struct that was loaded
		}
		if _, ok := ast.Unparen(x.X).(*ast.CallExpr); ok {
			return holderOf(p, x.X, steps-1)
		}
		return syntax.Named(p, x)
	case *ast.CallExpr:
		if funcname.Match(p.CalleeName(x), "*).Load") {
			return syntax.Named(p, syntax.Receiver(x))
		}
	}
	return nil
}

// describe fills in a match; it reports false if the copies are small or few.
func (c *copied) describe(m *finder.Case) bool {
	t := c.of
	what, isMap := "list", false
	switch t.(type) {
	case *types.Map:
		what, isMap = "map", true
	case *types.Slice:
	default:
		return false
	}
	size := elementSize(t)
	n, known := done(m.Pass, m.Site.Frame)
	copies := n * c.copies
	bytes, objects := stacks.Sum(m.Allocs)
	if !known {
		copies = float64(objects)
	}
	elements := c.elements
	if elements == 0 && size > 0 && copies > 0 && bytes >= leastBytes {
		elements = float64(bytes) / copies / float64(size)
	}
	if copies < leastCopies {
		return false
	}
	if b := c.built(m); b != nil && elements >= b.additions/4 {
		b.describe(m, c, what, elements)
		return true
	}
	if elements < leastElements {
		return false
	}
	replaced := c.stored(m)
	if !replaced && !c.grows(elements) {
		return false
	}
	then := "and replaces the original by it: %s times. n insertions copy n²/2 elements"
	if !replaced {
		then = "and returns it: %s times, with more elements each time as it seems"
	}
	m.Cause = fmt.Sprintf("%s copies the %s %s as a whole, %s elements on average, changes a few of the copy, "+then+".",
		syntax.FuncName(m.Place), what, syntax.Text(c.from), units.Number(float64(int64(elements))), units.Count(int64(copies+0.5)))
	m.Fix = advice(isMap, replaced)
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s copies per %s, %s elements each", units.Number(c.copies), m.Pass.Manifest.Unit(), units.Number(float64(int64(elements))))})
	return true
}

// advice returns how to change a collection without a copy of it. Of a copy that is returned, the
// original may be in use.
func advice(isMap, replaced bool) string {
	switch {
	case !replaced:
		return "Change the original in place when nothing else refers to it: copy at the first of several changes, and mark the copy as owned. Where older versions must stay, keep the changes in a small map or list on top of the original, or use a persistent tree."
	case isMap:
		return "Change one map in place under a sync.RWMutex, or use a sync.Map. If readers must not lock, collect changes, and replace the map once for many of them."
	}
	return "Append in place: readers of an older slice do not see what is appended after its end. Or collect changes, and replace the list once for many of them."
}
