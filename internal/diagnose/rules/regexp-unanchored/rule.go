// Package regexpunanchored finds regular expressions that search a whole text for a match that
// counts only at its start.
package regexpunanchored

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// anchoredCall is what a call of an anchored expression takes that does not match, in seconds:
	// 35 ns for a literal or a class of characters, 90 ns for alternatives (Go 1.26). fastCall is
	// the former.
	anchoredCall = 100e-9
	fastCall     = 35e-9
	// leastCall is the minimum time of a call: in less the engine has hardly searched.
	leastCall = 3 * anchoredCall
)

// Rule is regexp-unanchored.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "regexp-unanchored",
		Kind:  rule.CPU,
		Title: "Text searched for a match that counts only at its start",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Measured by the time of a call where it is counted; see saves.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 0.98},
				Specificity: 3, // a literal that is tested before does not help as much
			},
			Start: finder.Calls{Functions: methods(), Keep: engine},
			Judge: judge,
		},
	}
}

const doc = `A tokenizer asks of each expression whether the rest of the text starts with a
match. An expression without ^ or \A is searched for: where it does not match at
the start, the engine steps on, rune by rune, to the next match or to the end of
the text. The result is then discarded, because it is elsewhere. For every token
and every expression that costs as much as the rest of the text is long, so the
whole is quadratic.

Anchor the expression with ^(?:...), or \A with the flag m. The engine then gives
up at the first byte that does not fit. FindStringIndex(text[i:]) sees the start
of the rest as the start of the text.

The rule reports calls whose result is used only where the code has tested that
the match is at the start: loc[0] == 0, or strings.HasPrefix with the match. It
knows the patterns of all expressions that the call may have, and reports nothing
if one of them is unknown, or if they are anchored.

It is fine where a match anywhere counts, and for short texts.

Seen in the field: dlclark/regexp2#13 (lexers of alecthomas/chroma).`

// names are methods of a Regexp that return the first match.
var names = []string{
	"FindString", "Find", "FindStringIndex", "FindIndex", "FindStringSubmatch", "FindSubmatch",
	"FindStringSubmatchIndex", "FindSubmatchIndex",
}

func methods() (all []string) {
	for _, name := range names {
		all = append(all, "regexp.(*Regexp)."+name)
	}
	return all
}

// engine selects the rows of the search.
func engine(r *site.Row) bool { return r.Below("regexp.(*Regexp).doExecute") }

func judge(c *finder.Case) bool {
	if len(c.Calls) != 1 || len(c.CPU) == 0 || c.Pass.Syntax == nil {
		return false
	}
	call := c.Calls[0]
	test, ok := onlyAtStart(c.Pass.Syntax, c.Place, call)
	if !ok {
		return false
	}
	set := patterns{syntax: c.Pass.Syntax, seen: map[key]bool{}}
	if !set.of(c.Place, syntax.Receiver(call), mostSteps) || set.open == 0 || 2*set.open < set.all {
		return false
	}
	c.Live = nil
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	if known && each < leastCall {
		return false
	}
	text := syntax.Text(call.Args[0])
	c.Cause = fmt.Sprintf("%s searches all of %s, but %s accepts a match only at its start. %s: where no match starts there, the engine steps on to the next one or to the end of the text, for nothing.",
		syntax.Text(call.Fun), text, test, set.describe())
	c.Fix = set.advise()
	if known {
		f := saves(each)
		c.Fraction = &f
		c.Evidence = append(c.Evidence, rule.Evidence{
			What: "time of a call", Value: units.Seconds(each), Command: evidence.WhyCommand(c.Pass, c.Site),
		})
	}
	return true
}

// saves returns the share of a call's time that an anchor saves. A call that matches at the start
// costs the same with it.
func saves(each float64) rule.Fraction {
	rest := 1 - anchoredCall/each
	return rule.Fraction{Expect: 0.95 * rest, Low: 0.4 * rest, High: 1 - fastCall/each}
}

// describe returns a clause about the patterns.
func (s *patterns) describe() string {
	if s.all == 1 {
		return fmt.Sprintf("The pattern %#q is not anchored", syntax.Short(s.first))
	}
	if s.open == s.all {
		return fmt.Sprintf("None of the %d patterns of %s is anchored (such as %#q)", s.all, s.name, syntax.Short(s.first))
	}
	return fmt.Sprintf("%d of the %d patterns of %s are not anchored (such as %#q)", s.open, s.all, s.name, syntax.Short(s.first))
}

// advise returns the fix.
func (s *patterns) advise() string {
	anchor := "^"
	if strings.Contains(s.first, "(?m") || strings.Contains(s.first, "(?im") || strings.Contains(s.first, "(?sm") {
		anchor = `\A`
	}
	if s.all == 1 && len(s.first) <= longestShown {
		return fmt.Sprintf("Anchor the expression: regexp.MustCompile(%s). It gives up at the first byte that does not fit.", quoted(anchor+"(?:"+s.first+")"))
	}
	return fmt.Sprintf("Anchor each expression where it is compiled: %q + pattern + %q. It gives up at the first byte that does not fit.", anchor+"(?:", ")")
}

// longestShown is the longest pattern that a fix repeats.
const longestShown = 60

// quoted returns a pattern as Go code.
func quoted(pattern string) string {
	if strings.Contains(pattern, "`") {
		return fmt.Sprintf("%q", pattern)
	}
	return "`" + pattern + "`"
}
