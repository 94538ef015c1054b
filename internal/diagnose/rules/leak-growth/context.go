package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostCancelled is the largest share of a line's contexts that are cancelled, as counted, for the
// others to be a leak.
const mostCancelled = 0.9

// uncancelled returns what retains the contexts that a line derives from another, if their cancel
// functions are never or seldom called; nil otherwise. A context that can be cancelled is in the
// map of its parent's children until one of the two is cancelled (context.propagateCancel).
func uncancelled(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	for _, call := range p.Calls() {
		name := p.CalleeName(call)
		if !funcname.Match(name, "context.WithCancel", "context.WithCancelCause", "context.WithTimeout*", "context.WithDeadline*") {
			continue
		}
		if why := neverCancelled(pass, s, p, call); why != "" {
			return &keep{
				words: fmt.Sprintf("A context stays registered with its parent until its cancel function is called, and %s.", why),
				fix:   "Call the cancel function where the operation ends, on all paths: defer cancel() on the next line.",
			}
		}
	}
	return nil
}

// neverCancelled returns the reason why contexts of a call stay in memory; "" if they do not, or
// nothing shows that they do.
func neverCancelled(pass *rule.Pass, s *site.Site, p *gocode.Place, call *ast.CallExpr) string {
	cancel := secondResult(p, call)
	if cancel == nil {
		return ""
	}
	if id, ok := cancel.(*ast.Ident); ok && id.Name == "_" {
		return "the function drops it"
	}
	v := syntax.Named(p, cancel)
	if v == nil {
		return ""
	}
	derived, counted := evidence.Executions(pass, s.Frame)
	called, calls, elsewhere := 0.0, 0, false
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if syntax.Named(p, n.Fun) == v {
					ran, _ := evidence.ExecutionsAt(pass, p, n.Pos())
					calls, called = calls+1, called+ran.PerUnit
				}
				for _, arg := range n.Args {
					elsewhere = elsewhere || syntax.Named(p, arg) == v
				}
			case *ast.AssignStmt, *ast.ReturnStmt, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
				elsewhere = elsewhere || passesOn(p, n, v)
			}
			return true
		})
	}
	switch {
	case elsewhere:
		return ""
	case calls == 0:
		return "nothing calls " + syntax.Text(cancel)
	case counted && derived.PerUnit > 0 && called < mostCancelled*derived.PerUnit:
		return fmt.Sprintf("%s is called for %s of them", syntax.Text(cancel), units.Percent(called/derived.PerUnit))
	}
	return ""
}

// secondResult returns what the second result of a call is assigned to; nil if it is not assigned.
func secondResult(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	for _, n := range p.Enclosing(call) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && len(a.Lhs) == 2 && ast.Unparen(a.Rhs[0]) == call {
			return ast.Unparen(a.Lhs[1])
		}
	}
	return nil
}

// passesOn reports whether a statement or a part of a literal gives the value of v to something
// else, which may call it.
func passesOn(p *gocode.Place, n ast.Node, v *types.Var) bool {
	var values []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			if id, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); !ok || id.Name != "_" {
				values = append(values, rhs)
			}
		}
	case *ast.ReturnStmt:
		values = n.Results
	case *ast.KeyValueExpr:
		values = []ast.Expr{n.Value}
	case *ast.CompositeLit:
		values = n.Elts
	case *ast.SendStmt:
		values = []ast.Expr{n.Value}
	}
	for _, value := range values {
		if syntax.Named(p, value) == v {
			return true
		}
	}
	return false
}
