// Package asciitext finds calls of packages for Unicode text that get texts of ASCII characters.
package asciitext

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is ascii-text.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "ascii-text",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs, rule.NeedCounts},
		Title: "Unicode tables consulted for ASCII text",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the measured cost per byte.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A program computes the width of words, splits them into grapheme clusters,
normalizes them, changes their case or their encoding with a package for all of
Unicode. These packages look up each character in tables and keep a state
between characters. Many texts of the recording have only ASCII characters, for
which a loop over bytes gives the same result. hone builds the program once
more, such that expensive functions say whether their texts are ASCII.

Test first: a loop that compares each byte with utf8.RuneSelf takes less than a
nanosecond per byte. In ASCII text without control characters, the width and the
number of grapheme clusters are the number of bytes, all normal forms are the
text itself, and strings.ToLower and strings.ToUpper change the case. Call the
package for other texts. A module that does such work can have the test inside.

It is fine where texts come in other scripts: the rule reports functions of
which at least 40 % of the texts are ASCII and that take more than three times
as long as the test, as far as the recording's load is like the users' texts.

Seen in the field: mattn/go-runewidth#95 (width of ASCII text without
graphemes).`

const (
	leastCalls = 100
	leastASCII = 0.4
	leastTimes = 3 // the cost of the test
)

// tables are the packages that look up characters in tables of Unicode, or parts of their paths.
func tables() []string {
	return []string{
		"*uniseg.*", "*runewidth.*", "*displaywidth.*", "*uax29/*", "*go-textseg/*", "golang.org/x/text/unicode/norm.*", "golang.org/x/text/cases.*",
		"golang.org/x/text/width.*", "golang.org/x/text/transform.*", "golang.org/x/text/runes.*", "golang.org/x/text/secure/precis.*",
		"golang.org/x/text/unicode/bidi.*", "golang.org/x/net/idna.*", "*unidecode.*",
	}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.functions = watched.Remember(p, s.judge)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.describe}
}

type search struct {
	pass      *rule.Pass
	functions *watched.Functions[plain]
}

// plain is a function whose texts are ASCII.
type plain struct {
	in      *inputs.Function
	share   float64
	length  float64 // mean, in bytes
	seconds float64 // per call
}

// frame returns the index of the line that calls such a package, -1 for none, or if its texts are
// not known.
func (s *search) frame(r *site.Row) int {
	i, _ := s.call(r)
	return i
}

func (s *search) call(r *site.Row) (int, *plain) {
	patterns := tables()
	for i, f := range r.Stack {
		k := f.Owner.Kind
		if i == 0 || k != gocode.Main && k != gocode.Dependency || funcname.Match(f.Function, patterns...) {
			continue
		}
		callee := r.Stack[i-1].Function
		if !funcname.Match(callee, patterns...) {
			return -1, nil
		}
		for _, name := range []string{callee, f.Function} {
			if t := s.functions.Of(name); t != nil {
				return i, t
			}
		}
		return -1, nil
	}
	return -1, nil
}

func (s *search) judge(in *inputs.Function, cost *watched.Cost) *plain {
	if in.Calls < leastCalls {
		return nil
	}
	v, ok := evidence.LongestText(in)
	share := evidence.ASCIIShare(v)
	if !ok || share < leastASCII {
		return nil
	}
	seconds, _, ok := watched.PerCall(s.pass, cost, in)
	if !ok || seconds < leastTimes*watched.Reading(v.Mean()) {
		return nil
	}
	return &plain{in: in, share: share, length: v.Mean(), seconds: seconds}
}

func (s *search) describe(c *finder.Case) bool {
	var t *plain
	callee := ""
	for _, rows := range [][]*site.Row{c.Allocs, c.CPU} {
		for _, r := range rows {
			if i, found := s.call(r); found != nil {
				t, callee = found, r.Stack[i-1].Function
			}
		}
	}
	if t == nil {
		return false
	}
	name := symbol.Short(funcname.Typed(callee))
	of := ""
	if t.in.Name != callee {
		of = " of " + symbol.Short(funcname.Typed(t.in.Name))
	}
	c.Cause = fmt.Sprintf("%s looks up each character in tables of Unicode, but %s of the %s texts%s have only ASCII characters. A call takes %s for a text of %s on average; a loop over its bytes takes %s.",
		name, units.Percent(t.share), units.Count(t.in.Calls), of, units.Seconds(t.seconds), units.Bytes(t.length), units.Seconds(watched.Reading(t.length)))
	c.Fix = fmt.Sprintf("Test first whether the text has only ASCII characters (each byte below utf8.RuneSelf), and take a fast path for those, which needs no tables; call %s for other texts.", name)
	expect := t.share * (1 - watched.Reading(t.length)/t.seconds)
	c.Fraction = &rule.Fraction{Expect: expect, Low: expect / 2, High: 1}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: evidence.ValuesSeen(s.pass, t.in.Name)})
	return true
}
