// Package slicequeue finds queues in slices whose front is cut off, so that append allocates again
// and again.
package slicequeue

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is slice-queue.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "slice-queue",
		Kind:  rule.Alloc,
		Uses:  []rule.Need{rule.NeedCounts}, // without them, how long a queue lives is unknown
		Title: "Queue in a slice whose front is cut off, so that append allocates",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A ring buffer as long as the queue ever gets allocates nothing more. The low end
				// is for queues that still grow. libp2p/go-yamux#64 reports 10,165 allocations
				// before and 5 after.
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.5, High: 1},
				Specificity: 2,
			},
			Start: finder.Rows(func(s *site.Site) rule.Match { return finder.TakeCallsAndOwn(s, "runtime.growslice*") }),
			Judge: judge,
		},
	}
}

const doc = `A queue is often a slice: append adds at the end, q = q[1:] takes the first
element. The slice then starts later in its array, and what is before it is lost
to append: the capacity only shrinks. When it is used up, append allocates an
array and copies the queue, however short it is. A queue that is mostly empty
allocates for nearly every element. A sliding window that is written as
append(w[1:], x) does the same, and so does a buffer whose front is consumed.

Keep the elements in a ring: an array with the index of the first element and a
number of elements. Or keep the index of the first element, and go back to the
start of the slice (q = q[:0]) when the queue is empty. For a short queue or
window, copy(q, q[1:]) moves the rest down. Elements that were taken out should
be set to zero, so that the array does not keep what they refer to.

It is fine for a queue that lives as long as one call, such as that of a search
through a graph: it grows from nothing anyway. The rule reports fields of
objects that live long, as counted, package variables, types that are a queue
themselves, and local variables of loops that wait for events.

Seen in the field: quic-go/quic-go#3826 (an allocation for each packet),
libp2p/go-yamux#64, ipfs/boxo#742, influxdata/kapacitor#2489.`

func judge(c *finder.Case) bool {
	for _, call := range syntax.CallsOf(c.Place, "append") {
		q := queueOf(c, call)
		if q == nil {
			continue
		}
		if !syntax.AllocatesOnly(c.Place, call) { // the line allocates the element too
			c.Allocs, c.Live = nil, nil
		}
		if len(c.CPU) == 0 && len(c.Allocs) == 0 {
			continue
		}
		q.describe(c)
		return true
	}
	return false
}

// queue is a slice to which a call appends, and whose front is cut off.
type queue struct {
	text string
	cut  bool   // by a statement of its own, not in the call: append(w[1:], x)
	line string // that cuts it
}

// queueOf returns the queue that a call appends to; nil for none.
func queueOf(c *finder.Case, call *ast.CallExpr) *queue {
	p := c.Place.Outer()
	to := syntax.AssignedTo(p, call)
	if to == nil || len(call.Args) < 2 {
		return nil
	}
	q := nameOf(p, to)
	if q == (slice{}) || !q.lives(p, call) || perCall(c, p, q, call) {
		return nil
	}
	first := ast.Unparen(call.Args[0])
	if q.front(p, first, to) {
		return &queue{text: syntax.Text(to), line: syntax.Where(p, first.Pos())}
	}
	if local := nameOf(p, first); local != q {
		if local.v == nil {
			return nil
		}
		if _, from := syntax.Declared(p, local.v); from == nil || local.element || nameOf(p, from) != q {
			return nil
		}
		q = local // list := x.lists[key], which goes back there
	}
	if line := q.cut(c.Pass, p); line != "" {
		return &queue{text: syntax.Text(to), cut: true, line: line}
	}
	return nil
}

// slice is a variable that holds a slice, or slices as its elements; or a type of the package that
// is one, by its methods.
type slice struct {
	v       *types.Var
	of      *types.TypeName
	element bool
}

// nameOf returns what an expression names: v, x.f, v[i], x.f[i] or *p, where p was set to the
// address of one of these.
func nameOf(p *gocode.Place, e ast.Expr) slice {
	e = ast.Unparen(e)
	if x, ok := e.(*ast.IndexExpr); ok {
		return variable(p, x.X, true)
	}
	if star, ok := e.(*ast.StarExpr); ok {
		if v := syntax.LocalVar(p, star.X); v != nil {
			_, from := syntax.Declared(p, v)
			if u, ok := from.(*ast.UnaryExpr); ok && u.Op == token.AND {
				return nameOf(p, u.X)
			}
		}
	}
	return variable(p, e, false)
}

// variable returns the slice of a variable, or of the type of a method's receiver. The fields of a
// generic type are the same in all its methods.
func variable(p *gocode.Place, e ast.Expr, element bool) slice {
	v := syntax.Named(p, e)
	if v == nil {
		return slice{}
	}
	if receives(p, v) {
		t := v.Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if named, ok := types.Unalias(t).(*types.Named); ok {
			return slice{of: named.Obj(), element: element}
		}
	}
	return slice{v: v.Origin(), element: element}
}

// receives reports whether a variable is a method's receiver.
func receives(p *gocode.Place, v *types.Var) bool {
	return v.Kind() == types.RecvVar && v.Pkg() == p.Pkg
}

// shared reports whether the slice is in a field, a package variable or a value of a type with
// methods.
func (q slice) shared(p *gocode.Place) bool {
	return q.of != nil || q.v.IsField() || q.v.Parent() == p.Pkg.Scope()
}

// lives reports whether the slice lives longer than a call: it is in a field or a package variable,
// in a local variable of a loop that waits for events, or in one that is stored in such a place.
func (q slice) lives(p *gocode.Place, call *ast.CallExpr) bool {
	if q.shared(p) {
		return true
	}
	for _, loop := range loops.Around(p, call) {
		if !syntax.Inside(loop, q.v.Pos()) && loops.Waits(p, loop) {
			return true
		}
	}
	_, from := syntax.Declared(p, q.v)
	if from == nil || q.element {
		return false
	}
	home := nameOf(p, from)
	if home == (slice{}) || !home.shared(p) {
		return false
	}
	for _, use := range syntax.Reads(p, q.v) {
		if to := syntax.AssignedTo(p, use); to != nil && nameOf(p, to) == home {
			return true
		}
	}
	return false
}

// front reports whether an expression is the slice without its first elements, for the same object:
// next.list = n.list[i:] splits a list.
func (q slice) front(p *gocode.Place, e, of ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SliceExpr)
	if !ok || s.Low == nil {
		return false
	}
	from := ast.Unparen(s.X)
	if v := syntax.LocalVar(p, from); v != nil && nameOf(p, from) != q {
		if _, value := syntax.Declared(p, v); value != nil { // list := x.lists[key]
			from = ast.Unparen(value)
		}
	}
	if nameOf(p, from) != q || types.ExprString(from) != types.ExprString(ast.Unparen(of)) {
		return false
	}
	n, constant := syntax.ConstInt(p, s.Low)
	return !constant || n > 0
}

// cut returns the line of a statement of the package that cuts off the front of the slice; "" for
// none. One that never ran while executions were counted does not count.
func (q slice) cut(pass *rule.Pass, p *gocode.Place) (line string) {
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || line != "" {
				continue
			}
			var in *gocode.Place
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok || line != "" || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
					return line == ""
				}
				for i, lhs := range a.Lhs {
					if _, ok := ast.Unparen(a.Rhs[i]).(*ast.SliceExpr); !ok {
						continue
					}
					if in == nil {
						in = p.Entry(fn)
					}
					if nameOf(in, lhs) != q || !q.front(in, a.Rhs[i], lhs) {
						continue
					}
					if e, ok := evidence.ExecutionsAt(pass, in, a.Pos()); !ok || e.PerUnit > 0 {
						line = syntax.Where(in, a.Pos())
					}
				}
				return line == ""
			})
		}
	}
	return line
}

// perCall reports whether the objects that have a field, or the values of the type, are created
// often, compared with the elements that the line appends: their queues grow from nothing each
// time.
func perCall(c *finder.Case, p *gocode.Place, q slice, call *ast.CallExpr) bool {
	if q.v != nil && !q.v.IsField() {
		return false
	}
	appends, ok := evidence.ExecutionsAt(c.Pass, p, call.Pos())
	if !ok {
		return true
	}
	created := 0.0
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			if !creates(p, n, q) {
				return true
			}
			if runs, ok := evidence.ExecutionsAt(c.Pass, p, n.Pos()); ok {
				created += runs.PerUnit
			}
			return true
		})
	}
	return created*mostAppends > appends.PerUnit
}

// mostAppends is how many elements an object's queue must get for it to live long: a list that is
// filled once and then taken apart has hundreds.
const mostAppends = 4096

// creates reports whether a node creates a value of the struct type that has a field, or of the
// type of the queue itself.
func creates(p *gocode.Place, n ast.Node, q slice) bool {
	switch x := n.(type) {
	case *ast.CompositeLit:
		return has(p.TypeOf(x), q)
	case *ast.CallExpr:
		if name := p.CalleeName(x); name != "new" && name != "make" || len(x.Args) == 0 {
			return false
		}
		return has(p.TypeOf(x.Args[0]), q)
	case *ast.ValueSpec:
		return x.Type != nil && has(p.TypeOf(x.Type), q) // var q queue
	}
	return false
}

// has reports whether a type is that of the queue, or a struct with its field.
func has(t types.Type, q slice) bool {
	if t == nil {
		return false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && q.of != nil && named.Obj() == q.of {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if q.v != nil && f.Origin() == q.v {
			return true
		}
		if named, ok := types.Unalias(f.Type()).(*types.Named); ok && q.of != nil && named.Obj() == q.of {
			return true
		}
	}
	return false
}

func (q *queue) describe(c *finder.Case) {
	if !q.cut {
		c.Cause = fmt.Sprintf("The front of %s is cut off for each element that is added (%s), so its capacity shrinks, and append has to allocate and copy it again and again.", q.text, q.line)
		c.Fix = fmt.Sprintf("Keep the elements of %s in a ring: an array with the index of the oldest one, which the new one replaces. For a short window, copy(w, w[1:]) and set the last element.", q.text)
		return
	}
	c.Cause = fmt.Sprintf("%s is a queue: its front is cut off (%s), which takes capacity away, so append has to allocate and copy it again and again, however short the queue is.", q.text, q.line)
	c.Fix = fmt.Sprintf("Keep the elements of %s in a ring buffer, or keep the index of the first one and start again at %s[:0] when the queue is empty. For a short queue, copy(q, q[1:]) moves the rest down.", q.text, q.text)
}
