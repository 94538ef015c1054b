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

// accessor is a function that returns or sets the element of a table at a row and a column.
type accessor struct{ row, column int } // indices of its parameters

// inAccessor judges a line of an accessor, such as m.At(row, column), that two loops of a caller
// call in the order of columns, and a line of such loops that calls one: the processor waits for
// the element where it is used.
func inAccessor(c *finder.Case) bool {
	c.CPU = keepOwn(c.CPU)
	if len(c.CPU) == 0 {
		return false
	}
	for _, call := range syntax.Calls(c.Place) {
		in, ok := c.Pass.Syntax.Declared(c.Place.Callee(call))
		if !ok || len(loops.Around(c.Place, call)) < 2 {
			continue
		}
		if a, ok := accessorIn(in, in.Decl.Body); ok {
			if o, rows := a.order(c, c.Place, call, &c.Site.Frame); o != nil {
				return describe(c, o, rows)
			}
		}
	}
	var found *order
	var rows float64
	for _, n := range c.Place.Nodes {
		a, ok := accessorIn(c.Place, n)
		if !ok {
			continue
		}
		c.Keep(func(r *site.Row) bool {
			o, n := a.called(c, r)
			if o != nil {
				found, rows = o, n
			}
			return o != nil
		})
		return found != nil && describe(c, found, rows)
	}
	return false
}

func describe(c *finder.Case, o *order, rows float64) bool {
	c.Allocs, c.Live, c.Block, c.Mutex = nil, nil, nil, nil
	p := o.place
	c.Confidence = rule.Likely
	c.Cause = fmt.Sprintf("The inner loop of %s (line %d) goes from row to row of %s, %s of them, and uses one element of each: nearly every access is to a line of memory that is no longer in the cache.",
		syntax.FuncName(p), syntax.Line(p, o.inner.Pos()), o.table, units.Number(rows))
	c.Fix = fmt.Sprintf("Exchange the loops on lines %d and %d of %s, so that the inner one goes along a row.", syntax.Line(p, o.outer.Pos()), syntax.Line(p, o.inner.Pos()), syntax.FuncName(p))
	return true
}

// accessorIn returns the accessor whose body has a node.
func accessorIn(p *gocode.Place, n ast.Node) (a accessor, ok bool) {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return a, false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		x, is := n.(*ast.IndexExpr)
		if is && !ok && indexable(p.TypeOf(x.X)) && len(loops.Around(p, x)) == 0 {
			row, column := coordinates(p, x)
			a = accessor{of(p, sig, row), of(p, sig, column)}
			ok = a.row >= 0 && a.column >= 0 && a.row != a.column
		}
		return !ok
	})
	return a, ok
}

// coordinates returns the row and the column of rows[r][c] and of data[r*width+c]; nil for others.
func coordinates(p *gocode.Place, x *ast.IndexExpr) (row, column ast.Expr) {
	if outer, ok := ast.Unparen(x.X).(*ast.IndexExpr); ok && indexable(p.TypeOf(outer.X)) {
		return outer.Index, x.Index
	}
	sum, ok := ast.Unparen(x.Index).(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return nil, nil
	}
	for _, side := range [][2]ast.Expr{{sum.X, sum.Y}, {sum.Y, sum.X}} {
		if product, ok := ast.Unparen(side[0]).(*ast.BinaryExpr); ok && product.Op == token.MUL {
			return product, side[1]
		}
	}
	return nil, nil
}

// of returns the index of the only parameter that an expression reads; -1 for none.
func of(p *gocode.Place, sig *types.Signature, e ast.Expr) int {
	found := -1
	if e == nil {
		return found
	}
	for i := range sig.Params().Len() {
		if syntax.Mentions(p, e, sig.Params().At(i)) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// called returns the order in which the caller of a row calls the accessor, and the number of rows
// of the table; nil if it is not by columns.
func (a accessor) called(c *finder.Case, r *site.Row) (*order, float64) {
	if r.Owner+1 >= len(r.Stack) {
		return nil, 0
	}
	f := r.Stack[r.Owner+1]
	p, ok := c.Pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil, 0
	}
	call := loops.CallTo(p, r.Stack[r.Owner].Function)
	if call == nil {
		return nil, 0
	}
	return a.order(c, p, call, f)
}

// order is called for a call of the accessor at a frame.
func (a accessor) order(c *finder.Case, p *gocode.Place, call *ast.CallExpr, f *site.Frame) (*order, float64) {
	if a.row >= len(call.Args) || a.column >= len(call.Args) {
		return nil, 0
	}
	around := loops.Around(p, call)
	if len(around) < 2 {
		return nil, 0
	}
	in, over := variable(p, around[0]), variable(p, around[1])
	row, column := call.Args[a.row], call.Args[a.column]
	if in == nil || over == nil || !syntax.Mentions(p, row, in) || syntax.Mentions(p, row, over) || !syntax.Mentions(p, column, over) || syntax.Mentions(p, column, in) {
		return nil, 0
	}
	table := "the table"
	if recv := syntax.Receiver(call); recv != nil {
		if syntax.Mentions(p, recv, in) {
			return nil, 0
		}
		table = syntax.Text(recv)
	}
	l, ok := c.Pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, around[0].Pos()))
	if !ok || l.Iterations < leastRows {
		return nil, 0
	}
	return &order{table: table, outer: around[1], inner: around[0], place: p}, l.Iterations
}
