package rowsonlycounted

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// used says how a list of rows is used.
type used struct {
	ok    bool // only for its length or a sum
	empty bool // each use only asks whether there are any rows
	sums  bool // a loop adds up values of the rows
	line  int  // of the first use
}

// usedAs returns how a function uses a list that a call fills, or what the call returns if no
// variable gets it.
func usedAs(p *gocode.Place, call *ast.CallExpr, list *types.Var) used {
	u := used{ok: true, empty: true}
	if list == nil {
		u.note(p, call)
		return u
	}
	if syntax.IsResult(p, list) || syntax.Param(p, list) {
		return used{}
	}
	for _, id := range syntax.Reads(p, list) {
		if !syntax.Within(call, id) && !appending(p, id, list) {
			u.note(p, id)
		}
	}
	u.ok = u.ok && u.line > 0 && sets(p, list, call)
	return u
}

// note adds a use of the list.
func (u *used) note(p *gocode.Place, e ast.Expr) {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.CallExpr:
		if p.CalleeName(n) != "len" {
			u.ok = false
			return
		}
		u.empty = u.empty && zero(p, n)
	case *ast.RangeStmt:
		if ast.Unparen(n.X) != e || !adds(p, n) {
			u.ok = false
			return
		}
		u.sums, u.empty = true, false
	default:
		u.ok = false
		return
	}
	if line := syntax.Line(p, e.Pos()); u.line == 0 || line < u.line {
		u.line = line
	}
}

// sets reports whether a list gets rows only from one call, or from the appends in the loop over
// them.
func sets(p *gocode.Place, list *types.Var, call *ast.CallExpr) bool {
	n := 0
	for _, id := range syntax.Uses(p, list) {
		switch a := syntax.Parent(p, id).(type) {
		case *ast.AssignStmt:
			if len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(call) || appends(p, a) == list || empty(p, a) {
				continue
			}
			n++
		case *ast.UnaryExpr:
			if a.Op == token.AND && !syntax.Within(call, id) {
				n++
			}
		}
	}
	return n == 0
}

// empty reports whether an assignment sets a list to one without elements.
func empty(p *gocode.Place, a *ast.AssignStmt) bool {
	return len(a.Lhs) == 1 && len(a.Rhs) == 1 && syntax.EmptySlice(p, a.Rhs[0])
}

// appending reports whether a use of a list is the one of list = append(list, row).
func appending(p *gocode.Place, id *ast.Ident, list *types.Var) bool {
	call, ok := syntax.Parent(p, id).(*ast.CallExpr)
	if !ok {
		return false
	}
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	return ok && appends(p, a) == list
}

// zero reports whether a length is compared to tell zero from more.
func zero(p *gocode.Place, n ast.Expr) bool {
	b, ok := syntax.Parent(p, n).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	other := b.Y
	if ast.Unparen(b.Y) == n {
		other = b.X
	}
	c, constant := syntax.ConstInt(p, other)
	return constant && (c == 0 || c == 1 && (b.Op == token.LSS || b.Op == token.GEQ))
}

// adds reports whether a loop only adds numbers to variables, perhaps under conditions without
// calls: what a query with SUM or COUNT does.
func adds(p *gocode.Place, loop *ast.RangeStmt) bool {
	if loop.Value == nil && loop.Key != nil {
		return false // the list is indexed
	}
	return addsAll(p, loop.Body)
}

func addsAll(p *gocode.Place, b *ast.BlockStmt) bool {
	for _, stmt := range b.List {
		if !addsOne(p, stmt) {
			return false
		}
	}
	return len(b.List) > 0
}

func addsOne(p *gocode.Place, stmt ast.Stmt) bool {
	switch n := stmt.(type) {
	case *ast.IncDecStmt:
		return n.Tok == token.INC && number(p, n.X)
	case *ast.AssignStmt:
		return n.Tok == token.ADD_ASSIGN && len(n.Rhs) == 1 && number(p, n.Lhs[0]) && plain(p, n.Rhs[0])
	case *ast.IfStmt:
		return n.Init == nil && n.Else == nil && plain(p, n.Cond) && addsAll(p, n.Body)
	}
	return false
}

// number reports whether an expression is a local variable with a number.
func number(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return false
	}
	b, ok := v.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// plain reports whether an expression calls nothing but conversions, and indexes nothing: a
// database can compute it from the columns.
func plain(p *gocode.Place, e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if _, conversion := p.Conversion(n); !conversion {
				ok = false
			}
		case *ast.IndexExpr, *ast.FuncLit:
			ok = false
		}
		return ok
	})
	return ok
}
