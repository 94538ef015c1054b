// Package columnorder finds nested loops that go through a table column by column.
package columnorder

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastRows is the minimum mean number of rows that the inner loop goes through: with 64 bytes of
// each, they take more than the first-level cache of a processor, 32 to 64 kB.
const leastRows = 800

// Rule is column-order.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "column-order",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Table read column by column",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Two to five times faster in row order where the table is larger than the caches;
				// how much depends on them.
				Fraction: rule.Fraction{Expect: 0.5, Low: 0.1, High: 0.85},
			},
			Start: finder.Sites(func(s *site.Site) rule.Match { return finder.Take(s, func(*site.Row) bool { return true }) }),
			Judge: judge,
		},
	}
}

const doc = `A processor reads memory in lines of 64 bytes. A loop whose inner
variable is the row uses one element of each line and goes to another row; when
it comes to the next column, the line is no longer in the cache. In row order,
one line serves eight float64 in sequence, and the processor fetches the next
one ahead.

Exchange the two loops, or keep several columns in the inner loop (blocks).
Where one table is read by columns and another by rows, as in a product of
matrices, exchange the loops so that the innermost variable is the last index
of both, or transpose one first.

It is fine for tables that fit in the cache. The rule reports inner loops of
800 rows and more, as counted, in which the variable of the loop around them is
the last index, also of a function that returns an element, such as m.At(i, j).

Seen in the field: takara-ai/go-attention#8 (a product of a vector and a
matrix).`

func judge(c *finder.Case) bool {
	p := c.Place
	if len(c.CPU) == 0 {
		return false
	}
	for _, n := range p.Nodes {
		var found *order
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(*ast.IndexExpr); ok && found == nil && syntax.Line(p, x.Pos()) == p.Line {
				found = columns(p, x)
			}
			return found == nil
		})
		if found == nil {
			continue
		}
		l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(p, found.inner.Pos()))
		if !ok || l.Iterations < leastRows {
			continue
		}
		c.CPU = keepOwn(c.CPU)
		c.Allocs, c.Live, c.Block, c.Mutex = nil, nil, nil, nil
		if len(c.CPU) == 0 {
			return false
		}
		c.Confidence = rule.Likely
		c.Cause = fmt.Sprintf("The inner loop (line %d) goes from row to row of %s, %s of them, and uses one element of each: nearly every access is to a line of memory that is no longer in the cache.",
			syntax.Line(p, found.inner.Pos()), found.table, units.Number(l.Iterations))
		c.Fix = fmt.Sprintf("Exchange the loops on lines %d and %d, so that the inner one goes along a row.", syntax.Line(p, found.outer.Pos()), syntax.Line(p, found.inner.Pos()))
		return true
	}
	return inAccessor(c)
}

// keepOwn selects what the line does itself: a call that it makes is another matter.
func keepOwn(rows []*site.Row) (own []*site.Row) {
	for _, r := range rows {
		if r.Owner == 0 {
			own = append(own, r)
		}
	}
	return own
}

// order is an access by columns.
type order struct {
	table        string
	outer, inner ast.Node
	place        *gocode.Place // in the function of the loops, for calls of an accessor
}

// columns returns the order of an access whose row is the variable of the inner loop, and whose
// column is the variable of the loop around it; nil for another order.
func columns(p *gocode.Place, x *ast.IndexExpr) *order {
	around := loops.Around(p, x)
	if len(around) < 2 || !indexable(p.TypeOf(x.X)) {
		return nil
	}
	inner, outer := around[0], around[1]
	of, over := variable(p, inner), variable(p, outer)
	if over == nil {
		return nil
	}
	if r, ok := inner.(*ast.RangeStmt); ok && r.Value != nil { // for _, row := range table: row[x]
		if row := syntax.LocalVar(p, x.X); row != nil && row == syntax.LocalVar(p, r.Value) && syntax.Mentions(p, x.Index, over) {
			return &order{table: syntax.Text(r.X), outer: outer, inner: inner}
		}
	}
	if of == nil {
		return nil
	}
	if row, ok := ast.Unparen(x.X).(*ast.IndexExpr); ok && indexable(p.TypeOf(row.X)) {
		if syntax.Mentions(p, row.Index, of) && !syntax.Mentions(p, row.Index, over) && syntax.Mentions(p, x.Index, over) && !syntax.Mentions(p, x.Index, of) && !syntax.Mentions(p, row.X, of) {
			return &order{table: syntax.Text(row.X), outer: outer, inner: inner}
		}
		return nil
	}
	sum, ok := ast.Unparen(x.Index).(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return nil
	}
	for _, side := range [][2]ast.Expr{{sum.X, sum.Y}, {sum.Y, sum.X}} {
		product, ok := ast.Unparen(side[0]).(*ast.BinaryExpr)
		if ok && product.Op == token.MUL && syntax.Mentions(p, product, of) && !syntax.Mentions(p, product, over) && syntax.Mentions(p, side[1], over) && !syntax.Mentions(p, side[1], of) {
			return &order{table: syntax.Text(x.X), outer: outer, inner: inner}
		}
	}
	return nil
}

// variable returns the variable that counts the iterations of a loop; nil for none.
func variable(p *gocode.Place, loop ast.Node) *types.Var {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if l.Key != nil {
			return syntax.LocalVar(p, l.Key)
		}
	case *ast.ForStmt:
		if post, ok := l.Post.(*ast.IncDecStmt); ok {
			return syntax.LocalVar(p, post.X)
		}
	}
	return nil
}

// indexable reports whether a type is a slice or an array.
func indexable(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return true
	case *types.Pointer:
		return indexable(u.Elem())
	}
	return false
}
