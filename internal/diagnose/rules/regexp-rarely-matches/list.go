package regexprarelymatches

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// list is a loop that runs each of several expressions on the same text.
type list struct {
	matches
	over       ast.Expr
	head       int
	iterations float64
	// filterable of known patterns have a literal that can be tested.
	filterable, known int
}

// listed returns the list of expressions that a loop goes through on the line; false if the call's
// expression does not depend on the iteration, or its text does.
func listed(c *finder.Case, loop ast.Stmt) (*list, bool) {
	p, call := c.Place, c.Calls[0]
	receiver := syntax.Receiver(call)
	inner, ranges := loop.(*ast.RangeStmt)
	if receiver == nil || !ranges || loops.Invariant(p, loop, receiver) || asked(p, loop, call) {
		return nil, false
	}
	outer := loops.Same(p, call, call.Args[0])
	if outer == nil {
		return nil, false
	}
	l := &list{over: inner.X, head: syntax.Line(p, outer.Pos())}
	n, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, l.head)
	if !ok {
		return nil, false
	}
	if l.matches, ok = matched(c, c.Calls); !ok || l.rate() > mostOfList {
		return nil, false
	}
	if l.iterations = l.calls / n.Entries; l.iterations < leastPatterns {
		return nil, false
	}
	for _, pattern := range patterns(c, receiver, l.over) {
		l.known++
		if _, ok := required(pattern); ok {
			l.filterable++
		}
	}
	return l, true
}

// asked reports whether the loop asks something about the text before the call, or whether the
// expression is worth a call.
func asked(p *gocode.Place, loop ast.Stmt, call *ast.CallExpr) bool {
	text, _ := syntax.Var(p, call.Args[0])
	found := false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || c == call || c.Pos() >= call.Pos() || found {
			return !found
		}
		for _, arg := range c.Args {
			v, _ := syntax.Var(p, arg)
			found = found || v != nil && v == text
		}
		return !found
	})
	return found
}

// patterns returns the constant patterns of a list of expressions, as far as they are known: of the
// elements of a literal, or of the values that code gives to a field.
func patterns(c *finder.Case, receiver, over ast.Expr) (all []string) {
	if sel, ok := ast.Unparen(receiver).(*ast.SelectorExpr); ok {
		all, _ = fieldPatterns(c, sel)
		return all
	}
	lit, ok := syntax.Origin(c.Place, over).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, e := range lit.Elts {
		if pattern, ok := compiled(c.Place, e); ok {
			all = append(all, pattern)
		}
	}
	return all
}

// describe fills in a match; it reports false if too few of the patterns have a literal.
func (l *list) describe(c *finder.Case) bool {
	share := 1.0
	if l.known > 0 {
		share = float64(l.filterable) / float64(l.known)
	}
	if share < leastFilterable {
		return false
	}
	text := syntax.Text(c.Calls[0].Args[0])
	c.Cause = fmt.Sprintf("The loop on line %d runs each of %s expressions of %s on all of %s. According to the counts of executions, %s of these calls match.",
		l.head, units.Number(l.iterations), syntax.Text(l.over), text, units.Percent(l.rate()))
	c.Fix = fmt.Sprintf("Keep with each expression a literal that every match contains (regexp/syntax parses the pattern), and run the expression only if %s contains it. With many expressions, search all literals in one pass (Aho–Corasick) and run those whose literal was found.", text)
	f := saves(l.rate(), true)
	f = rule.Fraction{Expect: f.Expect * share, Low: f.Low * share, High: f.High * share}
	if l.known == 0 {
		// Which of the patterns have a literal is unknown.
		f.Expect, f.Low = f.Expect*0.75, 0.1
		c.Confidence = rule.Likely
	}
	c.Fraction = &f
	c.Evidence = append(c.Evidence, l.evidence(c))
	return true
}
