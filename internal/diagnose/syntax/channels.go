package syntax

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// ReceivesFrom returns the channel that a statement, such as the case of a select, receives from,
// and whether it assigns the value; nil for none.
func ReceivesFrom(s ast.Stmt) (from ast.Expr, assigned bool) {
	var e ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			e, assigned = s.Rhs[0], true
		}
	}
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
		return u.X, assigned
	}
	return nil, false
}

// Times reports whether an expression is a channel of times, as that of a timer.
func Times(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	ch, ok := t.Underlying().(*types.Chan)
	return ok && types.TypeString(ch.Elem(), nil) == "time.Time"
}
