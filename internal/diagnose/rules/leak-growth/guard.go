package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// guard is a condition that was examined while executions were counted and never held, such as
// waiting[key] == 0 of a counter that is increased once too often, so that what it guards did not
// run.
type guard struct {
	cond  string
	where string // its line
}

// guarded returns the condition that keeps all removals from running; false if some of them have
// no such condition.
func guarded(pass *rule.Pass, s *site.Site, p *gocode.Place, removals []ast.Node) (of guard, ok bool) {
	for _, n := range removals {
		g, ok := guardOf(pass, s, p, n)
		if !ok || of.where != "" && g != of {
			return guard{}, false
		}
		of = g
	}
	return of, of.where != ""
}

func guardOf(pass *rule.Pass, s *site.Site, p *gocode.Place, removal ast.Node) (g guard, ok bool) {
	for _, f := range p.Files() {
		if !syntax.Inside(f, removal.Pos()) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || !syntax.Inside(n, removal.Pos()) {
				return false
			}
			branch, isIf := n.(*ast.IfStmt)
			if !isIf || !syntax.Inside(branch.Body, removal.Pos()) {
				return true
			}
			at := p.Fset.Position(branch.Cond.Pos())
			ran, known := pass.Counts.Line(s.Owner.Package, at.Filename, at.Line)
			if ok = known && ran.PerUnit > 0; ok { // of nested conditions, the last that was examined
				g = guard{cond: types.ExprString(branch.Cond), where: syntax.Where(p, branch.Cond.Pos())}
			}
			return ok
		})
	}
	return g, g.where != ""
}

// words says that removals never ran because of the condition.
func (g guard) words(from string) string {
	return fmt.Sprintf(". Entries of %s are removed only if %s (%s), which was never true while executions were counted.", from, g.cond, g.where)
}

// fix says what to do about it.
func (g guard) fix(from string) string {
	return fmt.Sprintf("Look for the reason why %s never holds, such as a counter that is increased more often than it is decreased, or bound %s by size or age.", g.cond, from)
}
