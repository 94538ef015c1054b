package regexprarelymatches

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
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
	all, complete := flow.Patterns(c.Pass.Syntax, c.Place, call)
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
