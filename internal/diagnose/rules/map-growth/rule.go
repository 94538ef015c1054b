// Package mapgrowth finds maps that grow in a loop although their size is known before it.
package mapgrowth

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// growing are the runtime's functions that grow a map: of Swiss tables (since Go 1.24) and of the
// maps before them.
var growing = []string{
	"internal/runtime/maps.(*Map).growToSmall*", "internal/runtime/maps.(*Map).growToTable", "internal/runtime/maps.(*table).rehash",
	"internal/runtime/maps.(*table).grow", "internal/runtime/maps.(*table).split", "internal/runtime/maps.newTable",
	"runtime.hashGrow", "runtime.growWork*", "runtime.evacuate*",
}

// room is how many keys a map without a size hint has room for.
const room = 8

const assign = "runtime.mapassign*"

// Rule is map-growth.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "map-growth",
		Kind:  rule.Alloc,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Map grown in a loop though its size is known",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Doubling allocates about twice the final table in total and inserts every key
				// again. samber/lo#484 reports that a hint saves 30 to 50 % of the whole loop.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.4, High: 0.8},
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: guilty,
		},
	}
}

const doc = `A map without a size hint starts with room for eight keys. When it is full, the
runtime allocates a table of twice the size, hashes every key and inserts it
again. A map that gets n keys in a loop grows log₂(n/8) times.

make(map[K]V, n) with the number of keys allocates a table of the right size at
once.

It is fine when many keys are equal: with the number of iterations as the hint,
most of the table then stays empty. The rule reports only loops with a known
number of iterations, each of which stores a value that depends on the loop's
own element, unless it was counted that eight or fewer are usual. It leaves alone
counters and groups (m[k]++, append to m[k]) and sets.

Seen in the field: samber/lo#484, golang/go#56182.`

// take returns the rows of growing the map, not of inserting keys: in the allocation profile, which
// lacks the runtime's frames, the line's own allocations.
func take(s *site.Site) rule.Match {
	m := finder.Take(s, func(r *site.Row) bool { return false }, assign)
	m.CPU = stacks.Select(s.CPU, func(r *site.Row) bool {
		if !stacks.Calls(r, assign) {
			return false
		}
		for _, f := range growing {
			if r.Below(f) {
				return true
			}
		}
		return r.Class == site.Malloc || r.Class == site.Assist
	})
	m.Allocs = stacks.Select(s.Allocs, stacks.Leaf)
	m.Live = stacks.Select(s.Live, stacks.Leaf)
	return m
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	store, table, loop := stores(p)
	if store == nil {
		return false
	}
	n, ok := loops.Iterations(p, loop)
	if !ok || loops.AtMost(p, loop, store, room) {
		return false
	}
	if c.Pass.Counts != nil {
		l, counted := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(p, loop.Pos()))
		if counted && l.Iterations <= room {
			return false // the first allocation has room for all
		}
	}
	if !syntax.AllocatesOnly(p) { // the line allocates the value too
		m.Allocs, m.Live = nil, nil
	}
	if len(m.CPU) == 0 && len(m.Allocs) == 0 {
		return false
	}
	m.Confidence = rule.Likely // keys may repeat
	if ranged, ok := loop.(*ast.RangeStmt); ok && uniqueKeys(p, ranged, store) {
		m.Confidence = rule.Measured
	}
	m.Cause = fmt.Sprintf("%s is created without a size and gains a key in every iteration of the loop on line %d, which runs %s times. Its table is reallocated and rehashed at each doubling.",
		syntax.Text(table), syntax.Line(p, loop.Pos()), n)
	once := ""
	if loops.Evaluates(p, loop) {
		once, n = fmt.Sprintf("Evaluate %s once, in a variable n, for the loop and the size. ", n), "n"
	}
	m.Fix = fmt.Sprintf("%sCreate it with room for its keys: make(%s, %s).", once, syntax.TypeText(p, p.TypeOf(table)), n)
	return true
}

// stores returns the assignment m[k] = v on the line, the map that it fills, which is a local
// variable or a field of one, and the loop whose every iteration executes it.
func stores(p *gocode.Place) (*ast.AssignStmt, ast.Expr, ast.Node) {
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		elem, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
		if !ok {
			continue
		}
		table, made := created(p, elem.X)
		around := loops.Around(p, a)
		if table == nil || len(around) == 0 || !loops.EveryIteration(p, around[0], a) || loops.Returns(p, around[0], table) || !small(p, made) || !near(table, around) {
			continue
		}
		if loops.FromOutside(p, around[0], elem.Index) || loops.FromOutside(p, around[0], a.Rhs[0]) || syntax.Mentions(p, a.Rhs[0], table) {
			continue
		}
		return a, elem.X, around[0]
	}
	return nil, nil, nil
}

// created returns the variable that has a map, itself or in a field, and the expression that
// creates the map; nil if the map comes from somewhere else.
func created(p *gocode.Place, table ast.Expr) (*types.Var, ast.Expr) {
	t := p.TypeOf(table)
	if t == nil {
		return nil, nil
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return nil, nil
	}
	if v, initial, ok := syntax.NewField(p, table); ok {
		if len(syntax.Assigned(p, v)) > 1 || initial == nil || syntax.SetsOf(p, table) > 0 {
			return nil, nil
		}
		return v, initial
	}
	v := syntax.LocalVar(p, table)
	if v == nil {
		return nil, nil
	}
	values := syntax.Assigned(p, v)
	if len(values) != 1 {
		return nil, nil
	}
	return v, values[0]
}

// near reports whether a variable is declared just outside of the innermost loop.
func near(v *types.Var, around []ast.Node) bool {
	return !syntax.Inside(around[0], v.Pos()) && (len(around) == 1 || syntax.Inside(around[1], v.Pos()))
}

// small reports whether an expression creates a map without a hint.
func small(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		return p.CalleeName(x) == "make" && len(x.Args) == 1
	}
	return false
}

// uniqueKeys reports whether the keys cannot repeat: they are the keys of another map, or indexes.
func uniqueKeys(p *gocode.Place, loop *ast.RangeStmt, store *ast.AssignStmt) bool {
	elem := ast.Unparen(store.Lhs[0]).(*ast.IndexExpr)
	return loop.Key != nil && syntax.Same(p, loop.Key, elem.Index)
}
