package regexprarelymatches

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

// several judges a call of one of a few expressions, each with a constant pattern that has a
// literal: of a field that has one of them in each object, or of the elements of a literal.
func several(c *finder.Case, each float64, known bool) bool {
	if len(c.Calls) != 1 || known && each < leastEngine {
		return false
	}
	call := c.Calls[0]
	all, complete := among(c, call)
	if !complete || len(all) < 2 {
		return false
	}
	for _, pattern := range all {
		n, ok := required(pattern)
		if !ok || len(n.literals) > 1 || tested(c.Place, call, pattern) {
			return false
		}
	}
	m, ok := matched(c, c.Calls)
	if !ok || m.rate() > mostMatches {
		return false
	}
	first, _ := required(all[0])
	text, receiver := syntax.Text(call.Args[0]), syntax.Text(syntax.Receiver(call))
	c.Cause = fmt.Sprintf("%s is one of %d expressions, each of which matches only a text with a literal in it (%s for %#q). The engine steps through every text: according to the counts of executions, %s of %s calls match.",
		receiver, len(all), first, syntax.Short(all[0]), units.Percent(m.rate()), units.Count(int64(m.calls+0.5)))
	c.Fix = fmt.Sprintf("Keep its literal with each expression, and call the expression only if %s contains the literal (for the first: %s).", text, first.test(c.Place, call))
	f := saves(m.rate(), true)
	c.Fraction = &f
	c.Evidence = append(c.Evidence, m.evidence(c))
	return true
}

// among returns the constant patterns of the expressions that a call may be of; false if there may
// be others.
func among(c *finder.Case, call *ast.CallExpr) (all []string, complete bool) {
	switch r := ast.Unparen(syntax.Receiver(call)).(type) {
	case *ast.SelectorExpr:
		all, values := fieldPatterns(c, r)
		return all, len(all) == values
	case *ast.IndexExpr:
		return elements(c, r.X)
	case *ast.Ident:
		loop, ok := c.Place.LoopAround(call).(*ast.RangeStmt)
		if !ok || loop.Value == nil || c.Place.Object(r) == nil {
			return nil, false
		}
		if id, ok := loop.Value.(*ast.Ident); !ok || c.Place.Object(id) != c.Place.Object(r) {
			return nil, false
		}
		return elements(c, loop.X)
	}
	return nil, false
}

// elements returns the constant patterns of the elements of a list or a map that a literal sets,
// and nothing else; false if others may be in it.
func elements(c *finder.Case, e ast.Expr) (all []string, complete bool) {
	lit, ok := syntax.Origin(c.Place, e).(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			elt = kv.Value
		}
		pattern, ok := compiled(c.Place, elt)
		if !ok {
			return nil, false
		}
		all = append(all, pattern)
	}
	return all, true
}
