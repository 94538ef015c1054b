// Package pointerperelement finds loops that allocate each small element separately.
package pointerperelement

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// The sizes, in bytes, between which elements are worth allocating in a block: the allocator
// already packs smaller ones, and for larger ones malloc is a small part of the cost.
const (
	smallest = 8
	largest  = 128
)

// Rule is pointer-per-element.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pointer-per-element",
		Kind:  rule.Alloc,
		Title: "Each small element of a slice allocated separately",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// One large allocation instead of n small ones saves the calls (golang/go#60879:
				// nine tenths of the time for 256 elements), not the bytes, so the garbage
				// collector works as much as before.
				Fraction:    rule.Fraction{Expect: 0.45, Low: 0.15, High: 0.8},
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: guilty,
		},
	}
}

const doc = `A loop that fills a []*T with &T{…} calls the allocator for each element, and
the collector later marks each of them. With a []T, or with pointers into one
block allocated before the loop, it is one allocation:
	block := make([]T, n)
	for i := range n {
		block[i] = T{…}
		out[i] = &block[i]
	}
The second form keeps the type []*T. Its price: the block lives as long as any
of its elements does.

It is fine when elements are kept or dropped one by one, are large, or are few.
The rule reports loops whose number of iterations is known and in which every
iteration allocates one element.

Seen in the field: cockroachdb/cockroach#89610, miniflux/v2#3662;
golang/go#60879 measures the difference.`

// take returns the rows of allocating single objects, not of growing the slice.
func take(s *site.Site) rule.Match {
	m := finder.TakeOwn(s)
	m.CPU = stacks.Select(m.CPU, func(r *site.Row) bool { return !stacks.Calls(r, "runtime.growslice*") })
	return m
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, n := range syntax.Allocating(p) {
		elem, size := element(p, n)
		if elem == nil || size < smallest || size > largest {
			continue
		}
		at, made, through := p, n, ""
		loop := p.LoopAround(n)
		if loop == nil {
			if at, made = caller(c, n); made == nil {
				continue
			}
			loop, through = at.LoopAround(made), fmt.Sprintf(" in %s, through %s,", syntax.FuncName(at), syntax.FuncName(p))
		}
		if loop == nil || !loops.EveryIteration(at, loop, made) || !stored(at, made.(ast.Expr), loop) {
			continue
		}
		iterations, ok := loops.Iterations(at, loop)
		if !ok || loops.AtMost(at, loop, made, 8) || !mostly(m, size) {
			continue
		}
		name := syntax.TypeText(p, elem)
		m.Cause = fmt.Sprintf("Every iteration of the loop on line %d%s allocates one %s of %d bytes separately, %s of them.", syntax.Line(at, loop.Pos()), through, name, size, iterations)
		m.Fix = fmt.Sprintf("Store values instead of pointers ([]%s); or allocate a block with make([]%s, %s) before the loop and store pointers to its elements, if all of them have the same lifetime.", name, name, iterations)
		return true
	}
	return false
}

// caller returns the call of a constructor that returns what a node allocates, and its place: that
// of the row that allocates most. The call is nil if the function does more with the value.
func caller(c *finder.Case, n ast.Node) (*gocode.Place, ast.Node) {
	row := stacks.Largest(c.Allocs)
	if row == nil || row.Owner < 0 || row.Owner+1 >= len(row.Stack) || !returned(c.Place, n.(ast.Expr)) {
		return nil, nil
	}
	f := row.Stack[row.Owner+1]
	place, ok := c.Pass.Syntax.At(f.File, f.Line)
	if !ok || f.Owner.Kind != gocode.Main {
		return nil, nil
	}
	call := flow.CallAbove(c.Place, place)
	if call == nil {
		return nil, nil
	}
	return place, call
}

// returned reports whether a function returns a new value, at once or after it has set its fields.
func returned(p *gocode.Place, e ast.Expr) bool {
	if ret, ok := syntax.Parent(p, e).(*ast.ReturnStmt); ok {
		return len(ret.Results) == 1
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, e))
	if v == nil || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	found := false
	for _, use := range syntax.Reads(p, v) {
		switch syntax.Parent(p, use).(type) {
		case *ast.ReturnStmt:
			found = true
		case *ast.SelectorExpr:
		default:
			return false
		}
	}
	return found
}

// element returns the type that &T{…} or new(T) allocates, and its size.
func element(p *gocode.Place, n ast.Node) (types.Type, int64) {
	var t types.Type
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			t = p.TypeOf(n.X)
		}
	case *ast.CallExpr:
		if p.CalleeName(n) == "new" && len(n.Args) == 1 {
			t = p.TypeOf(n.Args[0])
		}
	}
	if t == nil || syntax.Generic(t) {
		return nil, 0
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return nil, 0
	}
	return t, syntax.Sizes().Sizeof(t)
}

// stored reports whether each iteration stores the pointer in a slice: it is appended or assigned
// to an element, directly or through a variable of the loop.
func stored(p *gocode.Place, e ast.Expr, loop ast.Node) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.CallExpr:
		if p.CalleeName(n) == "append" && len(n.Args) > 1 && n.Args[0] != e {
			return true
		}
	case *ast.AssignStmt:
		to := syntax.AssignedTo(p, e)
		if to == nil {
			return false
		}
		if x, ok := ast.Unparen(to).(*ast.IndexExpr); ok {
			_, slice := p.TypeOf(x.X).Underlying().(*types.Slice)
			return slice
		}
		v := syntax.LocalVar(p, to)
		if v == nil || !syntax.Inside(loop, v.Pos()) || len(syntax.Assigned(p, v)) != 1 {
			return false
		}
		for _, use := range syntax.Reads(p, v) {
			if stored(p, use, loop) && p.LoopAround(use) == loop && loops.EveryIteration(p, loop, use) {
				return true
			}
		}
	}
	return false
}

// mostly reports whether the mean size of the line's allocations is about that size: they are then
// not mainly those of the slice of pointers.
func mostly(m *rule.Match, size int64) bool {
	bytes, objects := stacks.Sum(m.Allocs)
	return objects > 0 && bytes/objects < 2*max(size, 16)
}
