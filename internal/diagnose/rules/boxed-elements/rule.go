// Package boxedelements finds lists of interfaces whose elements are allocated one by one.
package boxedelements

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is boxed-elements.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "boxed-elements",
		Kind:  rule.Alloc,
		Title: "Each element of a list of interfaces allocated",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A list of values needs memory for them too, in one piece.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.95},
				Specificity: 2,
			},
			Start: finder.Rows(take),
			Judge: judge,
		},
	}
}

const doc = `A list, map or channel of an interface type holds pointers. A number, a string or
a struct that is put into it is copied to the heap, one allocation for each
element: 20 to 50 ns, and as much again for the garbage collector, which follows
each pointer. Whoever reads the list jumps to another place in memory for each
element, and calls its methods through a table.

Where all elements of a list are of one type, use a slice of that type: one
allocation for all. A function with a type parameter, or a list per kind of value,
keeps the code that is common. Where the types are mixed, use one struct with a
field for the kind, or store pointers to the elements of slices of each type.

It is fine for few elements, and for lists that an interface of another module
asks for, such as the arguments of a query. The rule reports lines in a loop that
allocate for the conversion to an interface, by the heap profile.

Seen in the field: influxdata/influxdb#4825 (a thousand allocations for the values
of a block), influxdata/influxdb#5463.`

const (
	leastShare = 0.02 // of all allocated objects
	levels     = 3    // callers that may have the loop
)

// take returns the rows of allocating single objects, not of growing a list.
func take(s *site.Site) rule.Match {
	m := finder.TakeOwn(s)
	m.CPU = stacks.Select(m.CPU, func(r *site.Row) bool { return !stacks.Calls(r, "runtime.growslice*", "runtime.map*") })
	return m
}

func judge(c *finder.Case) bool {
	if len(c.Allocs) == 0 {
		return false
	}
	b := boxed(c.Place)
	if b == nil || !b.ours(c) {
		return false
	}
	size := syntax.Sizes().Sizeof(c.Place.TypeOf(b.value))
	c.Allocs = stacks.Select(c.Allocs, func(r *site.Row) bool { return r.Count > 0 && near(r.Value/r.Count, size) })
	bytes, objects := stacks.Sum(c.Allocs)
	if objects == 0 || float64(objects) < leastShare*float64(c.Pass.Table.Totals.AllocObjects) {
		return false
	}
	where := b.loop(c)
	if where == "" {
		return false
	}
	name := syntax.TypeText(c.Place, c.Place.TypeOf(b.value))
	c.Confidence = rule.Likely // whether a list has elements of one type is not known
	c.Cause = fmt.Sprintf("%s puts a %s into a %s in %s. It does not fit into an interface, so each element is copied to the heap on its own, %s each.",
		syntax.FuncName(c.Place), name, b.what, where, units.Bytes(float64(bytes)/float64(objects)))
	c.Fix = fmt.Sprintf("Use a []%s where all elements of a list are of that type, with a type parameter or a function per type for the rest of the code: one allocation for the whole list, and no pointer to each element. Where types are mixed, use one struct with a field for the kind.", name)
	return true
}

// near reports whether an object of a size may have been allocated for a value: of its size, or of
// the next size class.
func near(object, value int64) bool { return object >= value && object <= value+value/4+16 }

// box is a value that is converted to an interface to be an element.
type box struct {
	value ast.Expr
	to    types.Type // the interface
	list  ast.Expr   // what gets it; nil if the function returns it
	what  string     // "list of value"
	at    ast.Node
}

// boxed returns the value on the line of a place that is boxed as an element; nil for none.
func boxed(p *gocode.Place) (found *box) {
	add := func(at ast.Node, value, list ast.Expr, t types.Type) {
		to, what := element(p, t)
		if found == nil && to != nil && syntax.Line(p, value.Pos()) <= p.Line && p.Line <= syntax.Line(p, value.End()) && syntax.Boxes(p, value) {
			found = &box{value, to, list, what, at}
		}
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if p.CalleeName(n) == "append" && !n.Ellipsis.IsValid() {
				for _, arg := range n.Args[1:] {
					add(n, arg, n.Args[0], p.TypeOf(n.Args[0]))
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if at, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) {
					add(n, n.Rhs[i], at.X, p.TypeOf(at.X))
				}
			}
		case *ast.SendStmt:
			add(n, n.Value, n.Chan, p.TypeOf(n.Chan))
		}
		return found == nil
	})
	if found == nil {
		found = returned(p)
	}
	return found
}

// element returns the interface that the elements of a type have, and names the type; nil for
// others.
func element(p *gocode.Place, t types.Type) (types.Type, string) {
	if t == nil {
		return nil, ""
	}
	var e types.Type
	kind := "list"
	switch u := t.Underlying().(type) {
	case *types.Slice:
		e = u.Elem()
	case *types.Map:
		e, kind = u.Elem(), "map"
	case *types.Chan:
		e, kind = u.Elem(), "channel"
	}
	if e == nil || !types.IsInterface(e) {
		return nil, ""
	}
	if _, param := types.Unalias(e).(*types.TypeParam); param {
		return nil, ""
	}
	return e, kind + " of " + syntax.TypeText(p, e)
}

// returned returns the value that the line converts to the interface that the function returns, if
// the interface is of the program.
func returned(p *gocode.Place) *box {
	sig := syntax.SignatureOf(p)
	if sig == nil || sig.Results().Len() == 0 {
		return nil
	}
	to := sig.Results().At(0).Type()
	if _, named := types.Unalias(to).(*types.Named); !named || !types.IsInterface(to) || to.String() == "error" || mixes(p) {
		return nil
	}
	for _, n := range p.Nodes {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || len(ret.Results) == 0 || !syntax.Boxes(p, ret.Results[0]) {
			continue
		}
		return &box{value: ret.Results[0], to: to, what: "list of " + syntax.TypeText(p, to), at: ret}
	}
	return nil
}

// mostTypes is how many types of values a function may return for a list of one type.
const mostTypes = 2

// mixes reports whether a function returns values of many types, as the operators of an interpreter
// do: their interface cannot be replaced by one of them.
func mixes(p *gocode.Place) bool {
	seen := map[string]bool{}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal {
			return false
		}
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
			if t := p.TypeOf(ret.Results[0]); t != nil && !types.IsInterface(t) && !types.Identical(t, types.Typ[types.UntypedNil]) {
				seen[types.Default(t).String()] = true
			}
		}
		return true
	})
	return len(seen) > mostTypes
}

// ours reports whether the program may choose the type of the elements: the interface is its own,
// or the list is of its own and goes to no function of another module.
func (b *box) ours(c *finder.Case) bool {
	p := c.Place
	if named, ok := types.Unalias(b.to).(*types.Named); ok {
		pkg := named.Obj().Pkg()
		module := c.Site.Owner.Module
		return pkg != nil && (pkg == p.Pkg || module != "" && strings.HasPrefix(pkg.Path(), module+"/"))
	}
	v := syntax.LocalVar(p, b.list)
	if b.list == nil || v == nil || !syntax.Local(p, v) || syntax.Param(p, v) || syntax.IsResult(p, v) {
		return false
	}
	for _, use := range syntax.Reads(p.Outer(), v) {
		switch n := syntax.Parent(p.Outer(), use).(type) {
		case *ast.CallExpr:
			if name := p.CalleeName(n); name != "append" && name != "len" && name != "copy" {
				return false
			}
		case *ast.IndexExpr, *ast.RangeStmt, *ast.SliceExpr, *ast.SendStmt, *ast.BinaryExpr, *ast.UnaryExpr:
		default:
			return false
		}
	}
	return true
}

// loop describes the loop that fills the list, in the function or a caller; "" for none.
func (b *box) loop(c *finder.Case) string {
	if around := c.Place.LoopAround(b.at); around != nil && b.list != nil {
		return fmt.Sprintf("the loop on line %d", syntax.Line(c.Place, around.Pos()))
	}
	row := stacks.Largest(c.Allocs)
	caller, ok := loops.Calling(c.Pass.Syntax, row.Stack, row.Owner, levels)
	if !ok || b.list == nil && !(caller.Direct && collects(caller.Place, caller.Call)) {
		return ""
	}
	return fmt.Sprintf("the loop on line %d of %s", caller.Line(), caller.Name())
}

// collects reports whether what a call returns becomes an element of a list, a map or a channel.
func collects(p *gocode.Place, call *ast.CallExpr) bool {
	if into(p, call) {
		return true
	}
	lhs := syntax.AssignedTo(p, call)
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok && len(a.Rhs) == 1 && lhs == nil {
		lhs = a.Lhs[0]
	}
	v := syntax.LocalVar(p, lhs)
	if v == nil {
		return false
	}
	for _, use := range syntax.Reads(p, v) {
		if into(p, use) {
			return true
		}
	}
	return false
}

// into reports whether an expression is put into a list, a map or a channel.
func into(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p.Outer(), e).(type) {
	case *ast.CallExpr:
		return p.CalleeName(n) == "append" && ast.Unparen(n.Args[0]) != e
	case *ast.SendStmt:
		return n.Value == e
	case *ast.AssignStmt:
		_, index := ast.Unparen(n.Lhs[0]).(*ast.IndexExpr)
		return index && len(n.Rhs) == 1 && n.Rhs[0] == e
	}
	return false
}
