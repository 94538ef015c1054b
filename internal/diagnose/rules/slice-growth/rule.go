// Package slicegrowth finds slices that grow by append although their length is known before the
// loop.
package slicegrowth

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const grow = "runtime.growslice*"

// Rule is slice-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "slice-growth",
		Kind:  rule.Alloc,
		Title: "Slice grown by append though its length is known",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Doubling allocates about twice the final slice in total, and leaves it half empty
				// at worst; one slice of the right size remains. Netflix/spectator-go#53 reports 4
				// allocations and 240 B before, 1 and 64 B after.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.4, High: 0.8},
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: guilty,
		},
	}
}

const doc = `append to a full slice allocates a larger one (twice as large up to 256
elements, then by a quarter and more) and copies. A slice that starts empty and
gets n elements is therefore allocated and copied log₂(n) times, and the last
one has unused capacity.

When a loop appends once in each iteration and the number of iterations is known
before it, make([]T, 0, n) needs one allocation.

It is fine when the loop may end early or keeps few of the elements: capacity
for all would then cost more. The rule reports only loops in which every
iteration appends, and leaves alone slices that have a capacity.

Seen in the field: Netflix/spectator-go#53, milvus-io/milvus#35118. The prealloc
linter reports the same form without knowing which slices cost something.`

func take(s *site.Site) rule.Match {
	m := finder.TakeCallsAndOwn(s, grow)
	if len(m.CPU) == 0 && len(m.Allocs) == 0 {
		return rule.Match{Site: s}
	}
	return m
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.CallsOf(p, "append") {
		slice, loop := appends(p, call)
		if slice == nil {
			continue
		}
		n, ok := loops.Iterations(p, loop)
		if !ok || loops.AtMost(p, loop, call, 4) {
			continue
		}
		if !syntax.AllocatesOnly(p, call) { // the line allocates the element too
			m.Allocs = nil
			m.Live = nil
		}
		if len(m.CPU) == 0 && len(m.Allocs) == 0 {
			continue
		}
		each := len(call.Args) - 1
		if each > 1 {
			n = strconv.Itoa(each) + "*(" + n + ")"
		}
		m.Cause = fmt.Sprintf("%s starts empty and grows in every iteration of the loop on line %d, which runs %s times. It is reallocated and copied repeatedly.",
			slice.name, syntax.Line(p, loop.Pos()), n)
		once := ""
		if loops.Evaluates(p, loop) {
			once, n = fmt.Sprintf("Evaluate %s once, in a variable n, for the loop and the capacity. ", n), "n"
		}
		m.Fix = fmt.Sprintf("%sCreate it with the capacity that it needs before the loop: %s %s make(%s, 0, %s).", once, slice.name, slice.set, syntax.TypeText(p, slice.typ), n)
		return true
	}
	return false
}

// grown is a slice that a loop appends to.
type grown struct {
	name, set string
	typ       types.Type
}

// appends returns the slice that a call appends single elements to, and the loop whose every
// iteration does that: a local variable, or a field of one. The slice starts empty outside of that
// loop, and in no other loop.
func appends(p *gocode.Place, call *ast.CallExpr) (*grown, ast.Node) {
	if len(call.Args) < 2 || call.Ellipsis.IsValid() {
		return nil, nil
	}
	to := syntax.AssignedTo(p, call)
	if to == nil || !syntax.Same(p, to, call.Args[0]) {
		return nil, nil
	}
	around := loops.Around(p, call)
	if len(around) == 0 || !loops.EveryIteration(p, around[0], call) {
		return nil, nil
	}
	if slice := fieldOf(p, to, around); slice != nil {
		return slice, around[0]
	}
	slice := syntax.LocalVar(p, to)
	if slice == nil || loops.Returns(p, around[0], slice) {
		return nil, nil
	}
	if !startsEmpty(p, slice, around) || len(syntax.Assigned(p, slice)) > 2 {
		return nil, nil
	}
	return &grown{slice.Name(), ":=", slice.Type()}, around[0]
}

// fieldOf returns the slice if it is a field of a struct that the function creates without it, just
// outside of the innermost loop, and sets it nowhere else.
func fieldOf(p *gocode.Place, to ast.Expr, around []ast.Node) *grown {
	v, initial, ok := syntax.NewField(p, to)
	if !ok || initial != nil || loops.Returns(p, around[0], v) || syntax.Inside(around[0], v.Pos()) || len(around) > 1 && !syntax.Inside(around[1], v.Pos()) {
		return nil
	}
	if syntax.SetsOf(p, to) != 1 || len(syntax.Assigned(p, v)) > 1 {
		return nil
	}
	return &grown{syntax.Text(to), "=", p.TypeOf(to)}
}

// startsEmpty reports whether a slice is declared without capacity, just outside of the innermost
// loop: no other loop between them would fill it further.
func startsEmpty(p *gocode.Place, v *types.Var, around []ast.Node) bool {
	if around[0].Pos() <= v.Pos() && v.Pos() < around[0].End() {
		return false
	}
	if len(around) > 1 && (v.Pos() < around[1].Pos() || v.Pos() >= around[1].End()) {
		return false
	}
	if syntax.IsResult(p, v) {
		return true
	}
	stmt, value := syntax.Declared(p, v)
	if stmt == nil {
		return false
	}
	switch x := value.(type) {
	case nil:
		spec, ok := stmt.(*ast.ValueSpec)
		return ok && len(spec.Values) == 0
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		if p.CalleeName(x) != "make" || len(x.Args) != 2 {
			return false
		}
		n, ok := p.Const(x.Args[1])
		return ok && n.ExactString() == "0"
	}
	return false
}
