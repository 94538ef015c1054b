package tableofpairs

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// longSide is the minimum mean length of both sequences for which the time of all pairs is worth
// another algorithm.
const longSide = 500

// everything selects the CPU of a line.
func everything(s *site.Site) rule.Match {
	m := finder.Take(s, func(*site.Row) bool { return true })
	m.Allocs, m.Live, m.Mutex, m.Block = nil, nil, nil, nil
	return m
}

// cells judges a line of the loops that compute a cell for each pair of elements of two sequences,
// from whether they are equal and from the neighbouring cells.
func cells(c *finder.Case) bool {
	if c.Pass.Counts == nil {
		return false
	}
	inner := c.Place.Loop()
	if inner == nil {
		return false
	}
	outer := c.Place.LoopAround(inner)
	if outer == nil || !fills(c.Place, inner) {
		return false
	}
	a, b := compared(c.Place, inner)
	if a == nil {
		return false
	}
	columns, ok := loopOf(c, inner)
	rows, also := loopOf(c, outer)
	if !ok || !also || columns.Iterations < longSide || rows.Iterations < longSide {
		return false
	}
	c.Cause = fmt.Sprintf("%s computes a cell for each pair of elements of %s and %s, %s × %s of them each time.",
		syntax.FuncName(c.Place), syntax.Text(a), syntax.Text(b), units.Number(rows.Iterations), units.Number(columns.Iterations))
	c.Fix = fmt.Sprintf("Drop the elements that %s and %s have in common at the start and the end first; for what remains, use an algorithm whose time grows with the differences (Myers).",
		syntax.Text(a), syntax.Text(b))
	c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.1, High: 1} // as in judge
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the inner loop is reached", units.Number(columns.Iterations)),
	})
	return true
}

func loopOf(c *finder.Case, loop ast.Stmt) (counts.Loop, bool) {
	return c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(c.Place, loop.Pos()))
}

// fills reports whether a loop sets cells of a table, and reads others of the row before or after
// it.
func fills(p *gocode.Place, loop ast.Stmt) bool {
	var table *types.Var
	near := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if row := rowOf(p, e); row != nil {
					table = syntax.LocalVar(p, row.X)
				}
			}
		case *ast.IndexExpr:
			if row := rowOf(p, n); row != nil && table != nil && syntax.LocalVar(p, row.X) == table {
				near = near || neighbour(p, row, n)
			}
		}
		return true
	})
	return table != nil && near
}

// rowOf returns t[i] of a cell t[i][j] of slices; nil for other expressions.
func rowOf(p *gocode.Place, e ast.Expr) *ast.IndexExpr {
	cell, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	row, ok := ast.Unparen(cell.X).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	if t := p.TypeOf(row); t != nil {
		if _, slice := t.Underlying().(*types.Slice); slice {
			return row
		}
	}
	return nil
}

// compared returns the two sequences of which a loop compares elements for equality.
func compared(p *gocode.Place, loop ast.Stmt) (a, b ast.Expr) {
	ast.Inspect(loop, func(n ast.Node) bool {
		cmp, ok := n.(*ast.BinaryExpr)
		if !ok || a != nil || cmp.Op != token.EQL && cmp.Op != token.NEQ {
			return a == nil
		}
		x, ok := ast.Unparen(cmp.X).(*ast.IndexExpr)
		y, also := ast.Unparen(cmp.Y).(*ast.IndexExpr)
		if !ok || !also || rowOf(p, x) != nil || rowOf(p, y) != nil {
			return true
		}
		if v, _ := syntax.Var(p, x.X); v != nil {
			if w, _ := syntax.Var(p, y.X); w != nil && w != v {
				a, b = x.X, y.X
			}
		}
		return a == nil
	})
	return a, b
}
