// Package regexpofwords finds regular expressions that are nothing but a list of words.
package regexpofwords

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// mostCases is how many words a switch may have in a proposal; beyond it a map is easier to read.
const mostCases = 8

// Rule is regexp-of-words.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "regexp-of-words",
		Kind:  rule.CPU,
		Title: "Regular expression that is only a list of words",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}, // see saves
				Specificity: 1,
				Removes:     true,
			},
			Start: finder.Calls{Functions: []string{"regexp.(*Regexp).MatchString", "regexp.(*Regexp).Match"}},
			Judge: judge,
		},
	}
}

const doc = `A pattern such as ^(?:red|green|blue)$ asks whether a text is one
of some words. The engine steps through the text rune by rune with the
alternatives that are still possible: a list of 220 words takes 3 µs, and 5 µs
if upper and lower case are not distinguished.

Keep the words in a map[string]struct{} that is created once, and look the text
up: 15 ns, however many words there are. For (?i) the keys are the words in
lower case, and the text is converted with strings.ToLower, which folds like
(?i), except for the Kelvin sign and a few other letters. A switch is enough for
a few constant words.

The rule reports patterns that it knows to match whole texts, anchored at both
ends: constants, and words joined with "|" after regexp.QuoteMeta. It follows
variables and fields to the place where the expression is compiled.

It is fine where words can be patterns, and on lines that are not hot.

Seen in the field: grafana/mimir-prometheus#444.`

func judge(c *finder.Case) bool {
	if c.Pass.Syntax == nil || len(c.CPU) == 0 {
		return false
	}
	var all list
	words := c.All(func(call *ast.CallExpr) bool {
		l, ok := compiled(c.Pass.Syntax, c.Place, syntax.Receiver(call))
		all = all.with(l)
		return ok && len(call.Args) == 1
	})
	if !words {
		return false
	}
	what := fmt.Sprintf("one of %d fixed words", len(all.words))
	if all.joined != "" {
		what = fmt.Sprintf("one of the words that %s puts together", all.joined)
	}
	text := syntax.Text(c.Calls[0].Args[0])
	c.Cause = fmt.Sprintf("The regular expression only asks whether %s is %s: all its alternatives are literals, which the engine tries letter by letter.", text, what)
	key := text
	if !syntax.IsString(c.Place, c.Calls[0].Args[0]) {
		key = "string(" + text + ")"
	}
	switch {
	case all.fold:
		c.Fix = fmt.Sprintf("Keep the words, in lower case, as keys of a map[string]struct{} that is created once, and look up strings.ToLower(%s): one lookup, however many words there are.", key)
	case all.joined == "" && len(all.words) <= mostCases:
		c.Fix = fmt.Sprintf("Write a switch on %s with the words as cases, or look it up in a set (a map[string]struct{}) that is created once.", key)
	default:
		c.Fix = fmt.Sprintf("Keep the words as keys of a map[string]struct{} that is created once, and look %s up in it: one lookup, however many words there are.", key)
	}
	f := saves(all)
	c.Fraction = &f
	return true
}

// saves returns the share of a call's cost that a lookup saves, as measured with words of 4 to 12
// bytes (amd64, Go 1.26): 0.78 for 2 words, 0.85 for 8, 0.96 for 30 and 0.995 for 220; with (?i)
// and strings.ToLower 0.48, 0.79, 0.92 and 0.99. The number of joined words is unknown.
func saves(l list) rule.Fraction {
	few := l.joined == "" && len(l.words) <= mostCases
	switch {
	case few && l.fold:
		return rule.Fraction{Expect: 0.65, Low: 0.4, High: 0.85}
	case few:
		return rule.Fraction{Expect: 0.82, Low: 0.7, High: 0.92}
	case l.fold:
		return rule.Fraction{Expect: 0.92, Low: 0.5, High: 1}
	}
	return rule.Fraction{Expect: 0.95, Low: 0.78, High: 1}
}
