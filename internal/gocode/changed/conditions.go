package changed

import (
	"go/ast"
	"go/token"
	"strings"
)

// condition is a condition that must hold at an operation.
type condition struct {
	key, text string
	negated   bool
	isError   bool // err != nil, or another comparison of an error
}

// condition reads a condition of an if statement; negate says that it must not hold.
func (r *reader) condition(e ast.Expr, before []ast.Stmt, negate bool) condition {
	c := condition{key: r.norm(e), negated: negate, isError: isErrorCheck(e)}
	if b, ok := e.(*ast.BinaryExpr); ok && c.isError && b.Op == token.EQL && r.file.text(b.Y) == "nil" {
		c.negated = !negate
	}
	c.text = r.conditionText(e, before, negate)
	if negate {
		c.key = "not " + c.key
	}
	if from := r.origin(e, before); from != nil {
		c.key += " of " + r.norm(from)
	}
	return c
}

func isErrorCheck(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ && b.Op != token.EQL {
		return false
	}
	x, ok1 := b.X.(*ast.Ident)
	return ok1 && strings.HasPrefix(strings.ToLower(x.Name), "err")
}

// conditionText puts a condition into words: its source, or where the value of a variable is from.
func (r *reader) conditionText(e ast.Expr, before []ast.Stmt, negate bool) string {
	const limit = 60
	if p, ok := e.(*ast.ParenExpr); ok {
		return r.conditionText(p.X, before, negate)
	}
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		return r.conditionText(u.X, before, !negate)
	}
	switch from := r.origin(e, before).(type) {
	case *ast.IndexExpr:
		return r.file.short(from.Index, limit/2) + choose(negate, " is not in ", " is in ") + r.file.short(from.X, limit/2)
	case *ast.TypeAssertExpr:
		if from.Type != nil {
			return r.file.short(from.X, limit/2) + choose(negate, " is not ", " is ") + article(r.file.short(from.Type, limit/2))
		}
	case *ast.CallExpr:
		text := r.file.text(from)
		if len(text) > limit-20 {
			text = r.calleeName(from.Fun) + "(…)"
		}
		return text + choose(negate, " reports false", " reports true")
	}
	if b, ok := e.(*ast.BinaryExpr); ok && negate {
		if op, ok := opposite(b.Op); ok {
			return cut(r.file.text(b.X)+" "+op+" "+r.file.text(b.Y), limit)
		}
		return "!(" + r.file.short(e, limit-3) + ")"
	}
	return choose(negate, "!", "") + r.file.short(e, limit-1)
}

// choose returns a or b.
func choose[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

func opposite(op token.Token) (string, bool) {
	switch op {
	case token.EQL:
		return "!=", true
	case token.NEQ:
		return "==", true
	case token.LSS:
		return ">=", true
	case token.LEQ:
		return ">", true
	case token.GTR:
		return "<=", true
	case token.GEQ:
		return "<", true
	}
	return "", false
}

// origin returns the expression whose second value a condition tests, as in v, ok := m[k].
func (r *reader) origin(e ast.Expr, before []ast.Stmt) ast.Expr {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		e = u.X
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	for i := len(before) - 1; i >= 0; i-- {
		s, ok := before[i].(*ast.AssignStmt)
		if !ok {
			continue
		}
		for j, l := range s.Lhs {
			if name, ok := l.(*ast.Ident); !ok || name.Name != id.Name {
				continue
			}
			if len(s.Rhs) == 1 && j > 0 {
				return s.Rhs[0]
			}
			return nil
		}
	}
	return nil
}
