package fixedsleep

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// pause is a statement that only lets time pass.
type pause struct {
	node   ast.Stmt
	length ast.Expr
}

// pauseOn returns the pause on a line: time.Sleep, a receive from a timer, or a select over a timer
// and the end of a context; nil for none.
func pauseOn(p *gocode.Place) *pause {
	for _, n := range p.Nodes {
		s, ok := n.(ast.Stmt)
		if !ok || syntax.Line(p, s.Pos()) > p.Line {
			continue
		}
		switch s := s.(type) {
		case *ast.ExprStmt:
			if d := length(p, s.X); d != nil {
				return &pause{s, d}
			}
		case *ast.SelectStmt:
			if d := selected(p, s); d != nil {
				return &pause{s, d}
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

// fixed reports whether the length of a pause is a constant, or what a setting says: a field or a
// variable of the package.
func fixed(pass *rule.Pass, p *gocode.Place, d ast.Expr) bool {
	if values := flow.Constants(pass.Syntax, p, d); len(values) > 0 {
		return true
	}
	for _, from := range flow.Sources(pass.Syntax, p, d) {
		v := syntax.Named(from.Place, from.Value)
		if v == nil || !v.IsField() && v.Parent() != v.Pkg().Scope() || types.TypeString(v.Type(), nil) != "time.Duration" {
			return false
		}
	}
	return true
}
