// Package regexpofcharacters finds regular expressions that only check the characters of a text.
package regexpofcharacters

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is regexp-of-characters.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "regexp-of-characters",
		Kind:  rule.CPU,
		Title: "Regular expression that only checks characters",
		Doc:   doc,
		Uses:  []rule.Need{rule.NeedCounts},
		Finder: finder.Line{
			Claim: rule.Claim{
				// Measured for ^[a-z]+$, [^a-z0-9] and ^[a-z]+(?:-[a-z]+)?$ with texts of 4, 10 and
				// 40 bytes, against a loop with a table (amd64, Go 1.26): 0.95 to 0.97. A loop that
				// compares ranges, or decodes runes, takes two to three times as long as a table.
				Fraction: rule.Fraction{Expect: 0.93, Low: 0.75, High: 0.98},
			},
			Start: finder.Calls{Functions: methods()},
			Judge: judge,
		},
	}
}

const doc = `A pattern such as ^[a-z0-9_]+$ only asks whether a text consists of some
characters. The engine takes 12 ns for each character and 20 ns for the call,
because it looks up the range of each one and keeps track of states; a loop over
the bytes takes less than one. Names, keys, header values and identifiers are
often checked this way for each item of a request.

Write a loop over the bytes, with comparisons or a lookup in a [256]bool. Where
a character anywhere decides, strings.ContainsFunc or strings.IndexAny does it.
Where several sets follow each other, as in ^\d{4}-\d{2}$, a loop takes one step
after the other.

So it is with patterns of one set that replace characters or split a text:
[^a-z0-9]+ for the path of a title, \s+ between words, \w+ for the words. A loop
that copies what stays, strings.Map, strings.Fields or strings.FieldsFunc do the
same in a tenth of the time.

The rule reports constant patterns in which each character decides alone what
can follow, so that a loop never has to go back: sets, literals, repetitions and
optional parts. It leaves alone calls that take less than 40 ns.

It is fine where patterns come from configuration, and on lines that are not
hot.

Seen in the field: open-telemetry/opentelemetry-go#4743 (keys and values of
baggage).`

// leastCall is the minimum time of a call, in seconds, where it is known.
const leastCall = 40e-9

func judge(c *finder.Case) bool {
	if c.Pass.Syntax == nil || len(c.CPU) == 0 {
		return false
	}
	var asked check
	var patterns []string
	pieces := false
	fine := c.All(func(call *ast.CallExpr) bool {
		all, ok := flow.Patterns(c.Pass.Syntax, c.Place, call)
		if !ok {
			return false
		}
		piece := takes(c.Place, call)
		if len(patterns) > 0 && piece != pieces {
			return false
		}
		pieces = piece
		for _, expr := range all {
			here := parse(expr)
			if len(patterns) == 0 {
				asked = here
			}
			patterns = append(patterns, expr)
			if piece && here.kind != contains || !piece && !answers(c.Place, call, here) {
				return false
			}
		}
		return true
	})
	if !fine {
		return false
	}
	nanoseconds, _ := stacks.Sum(c.CPU)
	if each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9); known && each < leastCall {
		return false
	}
	if pieces {
		return describe(c, patterns[0])
	}
	text := syntax.Text(c.Calls[0].Args[0])
	c.Cause = fmt.Sprintf("The regular expression %#q only checks the characters of %s: %s. The engine takes more than 10 ns for each character, a loop over the %s about one.",
		syntax.Short(patterns[0]), text, asked.words(), asked.unit())
	if len(patterns) > 1 {
		c.Cause = fmt.Sprintf("Each of %d regular expressions that the call may use, such as %#q, only checks the characters of %s. The engine takes more than 10 ns for each character, a loop over the %s about one.",
			len(patterns), syntax.Short(patterns[0]), text, asked.unit())
		c.Fix = fmt.Sprintf("Keep a function in place of each expression, which goes through the %s of a text once and returns false at the first that does not fit, with comparisons or a lookup in a [256]bool.", asked.unit())
		return true
	}
	c.Fix = asked.advise(c, text)
	return true
}

// answers reports whether a loop over the characters has the same result as a call.
func answers(p *gocode.Place, call *ast.CallExpr, asked check) bool {
	return len(call.Args) == 1 && tests(p, call) && asked.kind != other && (asked.kind != contains || p.TypeOf(call).String() == "bool")
}

// tests reports whether a call only asks whether the text matches: it returns a bool, or the part
// that it finds is compared with the whole text.
func tests(p *gocode.Place, call *ast.CallExpr) bool {
	if p.Callee(call) == nil || p.Callee(call).Name() != "FindString" {
		return true
	}
	b, ok := syntax.Parent(p, call).(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL && b.Op != token.NEQ {
		return false
	}
	other := b.X
	if ast.Unparen(other) == ast.Expr(call) {
		other = b.Y
	}
	return syntax.Same(p, other, call.Args[0])
}

// unit returns the word for what a loop goes through.
func (c check) unit() string {
	if c.bytes {
		return "bytes"
	}
	return "runes"
}

// words says what a pattern asks.
func (c check) words() string {
	switch {
	case c.kind == contains:
		return "whether one of a set is in it"
	case c.kind == steps:
		return "sets and literals that follow each other, where each character decides alone what can come next"
	case c.most == 1 && c.least == 1:
		return "whether it is one of a set"
	}
	return "whether all of them are in a set"
}

// advise returns the fix for a text.
func (c check) advise(at *finder.Case, text string) string {
	unit, table := c.unit(), "a lookup in a [256]bool"
	if !c.bytes {
		table = "package unicode"
	}
	switch c.kind {
	case contains:
		pkg := "bytes"
		if syntax.IsString(at.Place, at.Calls[0].Args[0]) {
			pkg = "strings"
		}
		return fmt.Sprintf("Write %s.ContainsFunc(%s, f) with a function that compares the character with the set, or a loop over the %s with %s.", pkg, text, unit, table)
	case steps:
		return fmt.Sprintf("Write a function that goes through the %s of %s once, one set after the other, and returns false at the first that does not fit. The result is the same, without the engine.", unit, text)
	}
	fix := fmt.Sprintf("Write a loop over the %s of %s that returns false at the first that is not in the set, with comparisons or %s.", unit, text, table)
	switch {
	case c.most >= 0 && c.least == c.most:
		fix += fmt.Sprintf(" Test that there are exactly %d.", c.least)
	case c.most >= 0:
		fix += fmt.Sprintf(" Test that there are %d to %d.", c.least, c.most)
	case c.least > 1:
		fix += fmt.Sprintf(" Test that there are at least %d.", c.least)
	}
	if !c.empty {
		return fix + " An empty text does not match."
	}
	return fix
}
