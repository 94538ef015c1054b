package literalpercall

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// leastFilled is the minimum number of statements that fill a table.
const leastFilled = 4

// filled judges a line that sets an entry of a map which the function makes empty, fills with
// constants, one statement each, and then only reads.
func filled(c *finder.Case) bool {
	p := c.Place
	var table *types.Var
	for _, n := range p.Nodes {
		if a, ok := n.(*ast.AssignStmt); ok && table == nil && syntax.Line(p, a.Pos()) == p.Line {
			table = entryOf(p, a)
		}
	}
	if table == nil || !syntax.AllocatesOnly(p) {
		return false
	}
	made, value := syntax.Declared(p, table)
	if made == nil || !empty(p, value) || !loops.PerCall(p, made) || len(syntax.Assigned(p, table)) != 1 {
		return false
	}
	entries := entriesOf(p, made, table)
	u := &use{syntax: c.Pass.Syntax, seen: map[types.Object]bool{}}
	if len(entries) < leastFilled || !u.othersRead(p, table, entries) {
		return false
	}
	c.Cause = fmt.Sprintf("%s makes the map %s on every call, fills it with the same %d constant entries, and only reads it.", syntax.FuncName(p), table.Name(), len(entries))
	c.Fix = "Move the map to a package variable, as a literal, or write a switch."
	return true
}

// othersRead reports whether the uses of a table only read it, other than statements that fill it;
// at least one does.
func (u *use) othersRead(p *gocode.Place, table *types.Var, entries []*ast.AssignStmt) bool {
	reads := 0
	for _, id := range syntax.Reads(p, table) {
		if slices.ContainsFunc(entries, func(a *ast.AssignStmt) bool { return syntax.Within(a, id) }) {
			continue
		}
		if !u.reads(p.Outer(), id) {
			return false
		}
		reads++
	}
	return reads > 0 && len(u.copies) == 0
}

// entryOf returns the local map in which a statement sets a constant entry; nil for others.
func entryOf(p *gocode.Place, a *ast.AssignStmt) *types.Var {
	if a.Tok != token.ASSIGN || len(a.Lhs) != 1 {
		return nil
	}
	at, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok || !syntax.IsMap(p.TypeOf(at.X)) {
		return nil
	}
	_, key := p.Const(at.Index)
	_, value := p.Const(a.Rhs[0])
	if !key || !value {
		return nil
	}
	return syntax.LocalVar(p, at.X)
}

// entriesOf returns the statements that fill a table in the block that makes it.
func entriesOf(p *gocode.Place, made ast.Node, table *types.Var) (all []*ast.AssignStmt) {
	for _, n := range p.Enclosing(made) {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			continue
		}
		for _, stmt := range block.List {
			if a, ok := stmt.(*ast.AssignStmt); ok && entryOf(p, a) == table {
				all = append(all, a)
			}
		}
		return all
	}
	return nil
}

// empty reports whether an expression makes a map without entries.
func empty(p *gocode.Place, e ast.Expr) bool {
	if e == nil || !syntax.IsMap(p.TypeOf(e)) {
		return false
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		return p.CalleeName(x) == "make"
	}
	return false
}
