package awaited

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Pause is a statement that only lets time pass, or a call of a function that does so.
type Pause struct {
	Node   ast.Node
	Length ast.Expr
}

// PauseOn returns the pause on a line: time.Sleep, a receive from a timer, or a select over a timer
// and the end of a context; nil for none.
func PauseOn(p *gocode.Place) *Pause {
	for _, n := range p.Nodes {
		s, ok := n.(ast.Stmt)
		if !ok || syntax.Line(p, s.Pos()) > p.Line {
			continue
		}
		switch s := s.(type) {
		case *ast.ExprStmt:
			if d := length(p, s.X); d != nil {
				return &Pause{s, d}
			}
		case *ast.SelectStmt:
			if d := selected(p, s); d != nil {
				return &Pause{s, d}
			}
		}
	}
	return nil
}

// length returns how long an expression waits: time.Sleep(d), <-time.After(d), <-timer.C; nil for
// others.
func length(p *gocode.Place, e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if p.CalleeName(e) == "time.Sleep" {
			return e.Args[0]
		}
	case *ast.UnaryExpr:
		if call, ok := ast.Unparen(e.X).(*ast.CallExpr); ok && p.CalleeName(call) == "time.After" {
			return call.Args[0]
		}
		sel, ok := ast.Unparen(e.X).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "C" {
			return nil
		}
		if made, ok := syntax.Origin(p, sel.X).(*ast.CallExpr); ok && p.CalleeName(made) == "time.NewTimer" {
			return made.Args[0]
		}
	}
	return nil
}

// selected returns how long a select waits for a timer, if its other cases only wait for the end of
// a context; nil otherwise.
func selected(p *gocode.Place, s *ast.SelectStmt) (d ast.Expr) {
	for _, c := range s.Body.List {
		from, _ := syntax.ReceivesFrom(c.(*ast.CommClause).Comm)
		if from == nil {
			return nil
		}
		if call, ok := ast.Unparen(from).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), "(context.Context).Done") {
			continue
		}
		var timer ast.Expr
		ast.Inspect(c.(*ast.CommClause).Comm, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && timer == nil {
				timer = length(p, u)
			}
			return timer == nil
		})
		if timer == nil {
			return nil
		}
		d = timer
	}
	return d
}
