// Package tableofpairs finds tables with a row for each element of one sequence and a column for
// each of another.
package tableofpairs

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRows is the minimum number of rows that a recording must have allocated.
	leastRows = 200
	// longRow is the minimum mean length of a row, in bytes, for which a table that is read back is
	// worth another algorithm.
	longRow = 8192
)

// Rule is table-of-pairs.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "table-of-pairs",
		Kind:  rule.Alloc,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Table of all pairs of elements",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Of n rows two remain. For tables that are read back the match has its own
				// fraction.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 2,
			},
			Lines: []finder.Line{
				{Start: finder.Rows(finder.TakeOwn), Judge: judge},
				{Start: finder.Rows(everything), Judge: cells},
			},
		},
	}
}

const doc = `The distance of two texts, their longest common part or the difference of two
files is often computed with a table that has a row for each element of one and
a column for each of the other. For two files of 10,000 lines that is 800 MB,
and a row is allocated and cleared for each line of the first.

If a row depends only on the one before it, and the result is a cell of the last
row, keep two rows (or one, with the last value in a variable), and exchange
them. If the way through the table is read back, drop the elements that both
have in common at the start and the end first, which leaves little of most
files; then use an algorithm that needs the space of the differences only (Myers
with divide and conquer, Hirschberg).

It is fine for short texts that are read back. The rule reports tables of which
only neighbouring rows are used, those that are read back if their rows have 8
KiB and more, and the loops that compute the cells if both texts have 500
elements and more on average, as counted in the recording.

Seen in the field: databus23/helm-diff#1010 (786 MB became 1), pkg/diff#26,
siderolabs/omni#2311 (25 GB became 8 MB), kylelemons/godebug#32.`

func judge(c *finder.Case) bool {
	t := tableAt(c.Place)
	if t == nil {
		return false
	}
	bytes, rows := stacks.Sum(c.Allocs)
	if rows < leastRows {
		return false
	}
	name := t.v.Name()
	row := units.Bytes(float64(bytes) / float64(rows))
	if !t.readBack {
		c.Cause = fmt.Sprintf("%s allocates a row of %s, %s on average, for each element of the outer loop, but each row is computed from its neighbour, and only the last cell is read afterwards.",
			syntax.FuncName(c.Place), name, row)
		c.Fix = fmt.Sprintf("Keep two rows of %s and exchange them after each iteration: previous, current = current, previous.", name)
		return true
	}
	if bytes/rows < longRow {
		return false
	}
	c.Cause = fmt.Sprintf("%s keeps a cell of %s for each pair of elements, in rows of %s on average: its memory grows with the product of both lengths.",
		syntax.FuncName(c.Place), name, row)
	c.Fix = "Drop the elements that both sides have in common at the start and the end before the table is made; for what remains, use a linear-space algorithm (Myers with divide and conquer, or Hirschberg)."
	c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.1, High: 1} // how much the sides have in common is not known
	c.Confidence = rule.Likely
	return true
}
