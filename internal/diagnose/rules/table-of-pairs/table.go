package tableofpairs

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// table is a local variable [][]T whose rows are all allocated before it is filled.
type table struct {
	v *types.Var
	// readBack says that the rows are needed after the loop that fills them, and returned that
	// callers need them.
	readBack, returned bool
}

// tableAt returns the table of which the line allocates a row: t[i] = make([]T, n) in a loop; nil
// if there is none.
func tableAt(p *gocode.Place) *table {
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN || p.LoopAround(a) == nil {
			continue
		}
		index, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
		if !ok || !variableRow(p, a.Rhs[0]) {
			continue
		}
		v := syntax.LocalVar(p, index.X)
		if v == nil || syntax.Param(p, v) || syntax.IsResult(p, v) {
			continue
		}
		t := &table{v: v}
		if t.uses(p) && (!t.returned || t.ofPairs(p, ast.Unparen(a.Rhs[0]).(*ast.CallExpr))) {
			return t
		}
	}
	return nil
}

// variableRow reports whether an expression makes a row whose length is not constant.
func variableRow(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "make" || len(call.Args) != 2 {
		return false
	}
	_, constant := p.Const(call.Args[1])
	return !constant
}

// uses reports whether all uses of a table are of its cells, and at least one cell is computed in
// two nested loops from the row before it or after it.
func (t *table) uses(p *gocode.Place) bool {
	filled := false
	at := p.Outer()
	for _, id := range syntax.Reads(p, t.v) {
		index, ok := syntax.Parent(at, id).(*ast.IndexExpr)
		if _, returned := syntax.Parent(at, id).(*ast.ReturnStmt); returned {
			t.readBack, t.returned = true, true
			continue
		}
		if !ok || ast.Unparen(index.X) != ast.Expr(id) {
			if !measured(at, id) {
				return false
			}
			continue
		}
		switch n := syntax.Parent(at, index).(type) {
		case *ast.IndexExpr: // a cell
			if ast.Unparen(n.X) != ast.Expr(index) {
				return false
			}
			filled = filled || neighbour(at, index, n)
			t.readBack = t.readBack || t.later(at, index, n)
		case *ast.AssignStmt: // a row
			if len(n.Lhs) != 1 || ast.Unparen(n.Lhs[0]) != ast.Expr(index) {
				return false
			}
		default:
			if !measured(at, index) {
				return false
			}
		}
	}
	return filled
}

// ofPairs reports whether a table has a row for each element of one sequence and one more, and a
// column for each of another: a table that is itself the result has the size of an input.
func (t *table) ofPairs(p *gocode.Place, row *ast.CallExpr) bool {
	_, value := syntax.Declared(p.Outer(), t.v)
	if value == nil {
		return false
	}
	all, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok || p.CalleeName(all) != "make" || len(all.Args) != 2 {
		return false
	}
	rows, columns := oneMore(p, all.Args[1]), oneMore(p, row.Args[1])
	return rows != nil && columns != nil && rows != columns
}

// oneMore returns the variable v of a length len(v)+1; nil for other lengths.
func oneMore(p *gocode.Place, e ast.Expr) *types.Var {
	b, ok := ast.Unparen(syntax.Origin(p, e)).(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD {
		return nil
	}
	call, ok := ast.Unparen(syntax.Origin(p, b.X)).(*ast.CallExpr)
	if n, is := syntax.ConstInt(p, b.Y); !ok || !is || n != 1 || p.CalleeName(call) != "len" {
		return nil
	}
	v, _ := syntax.Var(p, call.Args[0])
	return v
}

// measured reports whether an expression is only the argument of len, or the operand of a range
// without a value.
func measured(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.CallExpr:
		return p.CalleeName(n) == "len"
	case *ast.RangeStmt:
		return ast.Unparen(n.X) == e && n.Value == nil
	}
	return false
}

// neighbour reports whether a cell is read to compute another one, in the row before it or after
// it: t[i-1][j] in a loop over j in a loop over i.
func neighbour(p *gocode.Place, row, cell *ast.IndexExpr) bool {
	b, ok := ast.Unparen(row.Index).(*ast.BinaryExpr)
	if !ok || b.Op != token.SUB && b.Op != token.ADD {
		return false
	}
	if one, ok := syntax.ConstInt(p, b.Y); !ok || one != 1 {
		return false
	}
	v := syntax.LocalVar(p, b.X)
	inner := p.LoopAround(cell)
	if v == nil || inner == nil {
		return false
	}
	outer := p.LoopAround(inner)
	return outer != nil && steps(p, outer, v)
}

// later reports whether a cell is read where it does not count the rows of the filling loops: in a
// loop that walks back, or at a place that depends on the way there. A cell outside of all loops is
// the result.
func (t *table) later(p *gocode.Place, row, cell *ast.IndexExpr) bool {
	loop := p.LoopAround(cell)
	if loop == nil {
		return t.inOther(p, cell)
	}
	index := ast.Unparen(row.Index)
	if b, ok := index.(*ast.BinaryExpr); ok {
		index = ast.Unparen(b.X)
	}
	if _, constant := p.Const(index); constant {
		return false
	}
	v := syntax.LocalVar(p, index)
	if v == nil {
		return true
	}
	for ; loop != nil; loop = p.LoopAround(loop) {
		if steps(p, loop, v) {
			return false
		}
	}
	return true
}

// inOther reports whether a cell is in another function literal than the one that makes the table.
func (t *table) inOther(p *gocode.Place, cell ast.Node) bool {
	for _, n := range p.Enclosing(cell) {
		if lit, ok := n.(*ast.FuncLit); ok && !syntax.Inside(lit, t.v.Pos()) {
			return true
		}
	}
	return false
}

// steps reports whether v is the variable that a loop counts with: only its head changes it.
func steps(p *gocode.Place, loop ast.Stmt, v *types.Var) bool {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		return syntax.LocalVar(p, l.Key) == v && !syntax.Changes(p, l.Body, v)
	case *ast.ForStmt:
		return l.Post != nil && syntax.Changes(p, l.Post, v) && !syntax.Changes(p, l.Body, v)
	}
	return false
}
