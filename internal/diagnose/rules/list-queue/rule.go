// Package listqueue finds queues and stacks in linked lists, which allocate for each element.
package listqueue

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is list-queue.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "list-queue",
		Kind:  rule.Alloc,
		Title: "Queue in a linked list, which allocates for each element",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A slice that is as long as the queue ever gets allocates nothing more. The low
				// end is for queues that are filled once, whose slice grows from nothing.
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.6, High: 1},
				Specificity: 2,
			},
			Start: finder.Rows(pushing),
			Judge: judge,
		},
	}
}

const doc = `PushBack of container/list allocates a list element of 48 bytes, and another
object for the value itself, unless it is a pointer: a string, a struct or a
number is boxed as any. A queue pays that for each element, though it only adds
at one end and takes from the other. The elements are scattered in memory, and
the collector follows three pointers for each of them.

Keep the elements in a slice: for a stack, append and cut the end off; for a
queue, a ring, which is an array with the index of the first element and their
number. Or keep the index of the first element, and go back to the start of the
slice (q = q[:0]) when the queue is empty. The elements then have a type, too.

It is fine where elements are taken out of the middle or moved, as in an LRU
cache: the list does that in a few steps. The rule reports lists of which the
package only ever takes the first or the last element.

Seen in the field: btcsuite/btcd#212 (requests of a peer), decred/dcrdata#1137,
dunglas/mercure#558 (updates for each subscriber).`

// pushing selects the rows in which a line adds to a list, and what it allocates itself.
func pushing(s *site.Site) rule.Match {
	return finder.TakeCallsAndOwn(s, "container/list.(*List).PushBack", "container/list.(*List).PushFront")
}

func judge(c *finder.Case) bool {
	p := c.Place
	for _, call := range syntax.CallsOf(p, "(*container/list.List).PushBack", "(*container/list.List).PushFront") {
		if _, ok := syntax.Parent(p, call).(*ast.ExprStmt); !ok || len(call.Args) != 1 {
			continue // the list element is kept, to move it or to take it out later
		}
		v := listOf(p, syntax.Receiver(call))
		if v == nil {
			continue
		}
		u, ok := usesOf(p.Outer(), v)
		if !ok || !u.takes {
			continue
		}
		boxed := syntax.Boxed(p, call)
		if len(boxed) == 0 || !syntax.AllocatesOnly(p, boxed[0]) { // the line allocates the value too
			c.Keep(func(r *site.Row) bool { return !stacks.Leaf(r) })
		}
		if c.Empty() {
			continue
		}
		u.describe(c, call, len(boxed) > 0)
		return true
	}
	return false
}

// listOf returns the variable or field that holds a list; nil for other expressions.
func listOf(p *gocode.Place, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	v := syntax.Named(p, e)
	if v == nil || !isList(v.Type()) {
		return nil
	}
	return v.Origin()
}

func isList(t types.Type) bool {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "container/list" && named.Obj().Name() == "List"
}

// uses are what a package does with a list.
type uses struct {
	takes       bool // it takes elements out
	front, back bool // it adds at that end
	first, last bool // it takes from that end
}

// stack reports whether elements are only taken from the end at which they were added.
func (u uses) stack() bool {
	return u.back && !u.front && u.last && !u.first || u.front && !u.back && u.first && !u.last
}

// usesOf returns what the package does with a list. It reports false if it moves elements, takes
// them out of the middle, or passes the list on.
func usesOf(p *gocode.Place, v *types.Var) (u uses, ok bool) {
	ok = true
	for _, file := range p.Files() {
		var path []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			path = append(path, n)
			id, is := n.(*ast.Ident)
			if !is {
				return true
			}
			if x, is := p.Object(id).(*types.Var); is && x.Origin() == v && !u.add(p, path) {
				ok = false
			}
			return true
		})
	}
	return u, ok
}

// add notes a use of the list: the last node of the path. It reports false if a slice does not
// support that.
func (u *uses) add(p *gocode.Place, path []ast.Node) bool {
	i := len(path) - 2
	if sel, ok := path[i].(*ast.SelectorExpr); ok && sel.Sel == path[i+1] { // the field in x.field
		i--
	}
	switch n := path[i].(type) {
	case *ast.Field, *ast.ValueSpec: // declared
		return true
	case *ast.KeyValueExpr: // queue{waiting: list.New()}
		return n.Key == path[i+1]
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if lhs == path[i+1] {
				return true
			}
		}
		return false
	case *ast.BinaryExpr: // list == nil
		return true
	case *ast.SelectorExpr:
		call, ok := path[i-1].(*ast.CallExpr)
		return ok && call.Fun == n && u.call(p, call, n.Sel.Name)
	}
	return false
}

// call notes the call of a method.
func (u *uses) call(p *gocode.Place, call *ast.CallExpr, method string) bool {
	switch method {
	case "Len", "Init":
		return true
	case "PushBack":
		u.back = true
		return true
	case "PushFront":
		u.front = true
		return true
	case "Front", "Back":
		return true
	case "Remove":
		u.takes = true
		return len(call.Args) == 1 && u.end(p, call.Args[0])
	}
	return false
}

// end reports whether a list element is the first or the last of its list: list.Front(), or a
// variable that gets nothing else.
func (u *uses) end(p *gocode.Place, e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		switch p.CalleeName(call) {
		case "(*container/list.List).Front":
			u.first = true
			return true
		case "(*container/list.List).Back":
			u.last = true
			return true
		}
		return false
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := p.Object(id).(*types.Var)
	if !ok || v.IsField() {
		return false
	}
	got, all := false, true
	for _, file := range p.Files() {
		if !syntax.Inside(file, v.Pos()) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				return true
			}
			for i, lhs := range a.Lhs {
				if to, ok := lhs.(*ast.Ident); ok && p.Object(to) == v {
					_, call := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
					got, all = true, all && call && u.end(p, a.Rhs[i])
				}
			}
			return true
		})
	}
	return got && all
}

func (u uses) describe(c *finder.Case, call *ast.CallExpr, boxed bool) {
	p := c.Place
	list := syntax.Text(syntax.Receiver(call))
	elem := syntax.TypeText(p, p.TypeOf(call.Args[0]))
	if t, ok := p.TypeOf(call.Args[0]).(*types.Basic); ok && t.Info()&types.IsUntyped != 0 {
		elem = types.Default(t).String()
	}
	also := ""
	if boxed {
		also = fmt.Sprintf(", and memory for the value (%s), which is boxed as any", elem)
	}
	what, instead := "queue", fmt.Sprintf("Keep the elements in a []%s with the index of the first one (a ring, or a slice that starts over when it is empty).", elem)
	if u.stack() {
		what, instead = "stack", fmt.Sprintf("Use a []%s: append adds an element, and stack[:len(stack)-1] removes the last one.", elem)
	}
	c.Confidence = rule.Likely // another package could use an exported list differently
	c.Cause = fmt.Sprintf("%s is used as a %s only, but it is a linked list: each %s allocates a list element%s.", list, what, syntax.Text(call.Fun), also)
	c.Fix = instead
}
