package rowsonlycounted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

// loaded returns how many bytes a match allocates each time that its line runs; 0 if that is not
// known.
func loaded(p *rule.Pass, c *finder.Case) float64 {
	bytes := 0.0
	for _, r := range c.Allocs {
		bytes += float64(r.Value)
	}
	each, ok := evidence.PerExecution(p, c.Site.Frame, bytes)
	if !ok {
		return 0
	}
	return each
}

// describeBuilt is [use.describe] for a query that a builder composes.
func (u *use) describeBuilt(c *finder.Case, bytes float64) {
	c.Confidence = rule.Likely // which index the database has is not known
	where := ""
	if u.in.sent.Pos() != u.call.Pos() {
		where = fmt.Sprintf(" (the query is on %s)", syntax.Where(u.in.place, u.in.sent.Pos()))
	}
	row, loads := u.in.tables[0], ""
	if slices.ContainsFunc(u.in.built.Methods, relation) {
		loads = " with the rows that belong to them"
	}
	head := fmt.Sprintf("%s loads every %s that matches%s, and allocates %s each time%s, and ", syntax.Text(u.call.Fun), row, loads, units.Bytes(bytes), where)
	const waste = " Each row is read, converted and allocated for that, and nothing else is read of it."
	without := " without Order, Select and Preload, in a function of its own."
	switch {
	case u.sums:
		c.Cause = head + fmt.Sprintf("the loop on line %d only adds up values of them.", u.line) + waste
		c.Fix = "Let the database add them up: the same conditions with SUM(…) as the only column," + without
	case u.empty:
		c.Cause = head + fmt.Sprintf("line %d only asks whether there are any.", u.line) + waste
		c.Fix = "Ask for existence: the same conditions with a constant as the only column, and a limit of one row," + without
	default:
		c.Cause = head + fmt.Sprintf("line %d only takes the length of the list.", u.line) + waste
		c.Fix = "Let the database count them instead of loading them: the same conditions with Count," + without
	}
	c.Fraction = &rule.Fraction{Expect: 0.75, Low: 0.35, High: 0.97}
}

// relation reports whether a method of a builder loads the rows of other tables.
func relation(method string) bool {
	return method == "Relation" || strings.HasPrefix(method, "Preload")
}
