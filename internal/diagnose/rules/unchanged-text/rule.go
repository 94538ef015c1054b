// Package unchangedtext finds functions that rebuild texts in which they change nothing.
package unchangedtext

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is unchanged-text.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "unchanged-text",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs, rule.NeedCounts},
		Title: "Text rebuilt although nothing in it changes",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the measured cost per call and share of calls.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function escapes, quotes, cleans, folds or normalizes texts, and copies them
piece by piece or runs a regular expression over them. Nearly all texts that it
gets need no change: names without special characters, lower-case words, paths
that are clean already. hone builds the program once more, such that expensive
functions compare the text that they return with the one that they got, by
hashes that never leave the process.

Look for the first byte that needs a change, with a loop, strings.IndexAny or
strings.IndexByte, and return the text itself if there is none; otherwise copy
the part before it and continue there. Before a regular expression, test for a
character or a word that all of its matches contain.

It is fine where looking costs as much: the rule reports functions that return
at least 95 % of their texts unchanged and that take at least three times as
long as a loop over the bytes of the text, or allocate as much as the text is
long. It knows them by their names, which say that they change a text, or by
their source, which goes through the text and decides what to write for each
character. A function that checks a text or makes a copy on purpose also returns
what it got.

Seen in the field: kurrik/oauth1a#9 (escaping of parameters),
github/github-mcp-server#3120 (invisible characters removed from clean texts),
gofiber/utils#119 (case of words that have it already).`

const (
	leastCalls     = 100
	leastUnchanged = 0.95 // share of the texts that are not empty
	leastLength    = 4    // bytes, on average
	leastTimes     = 3    // the cost of a loop over the bytes
	leastCopied    = 0.8  // allocated bytes per byte of the text
	mostlyEngine   = 0.5  // share of the time that is the regexp engine's, for other words
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.functions = watched.Remember(p, s.judge)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.describe}
}

type search struct {
	pass      *rule.Pass
	functions *watched.Functions[change]
}

// change is a function that could return its text as it is.
type change struct {
	in             *inputs.Function
	unchanged      float64 // share of its calls
	length         float64 // mean, in bytes
	seconds, bytes float64 // per call
}

// frame returns the index of the line that is reported: the nearest to the leaf in a function that
// could return its text or, for those of the standard library, the line that calls it.
func (s *search) frame(r *site.Row) int {
	for i, f := range r.Stack {
		k := f.Owner.Kind
		if k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if s.functions.Of(f.Function) != nil || i > 0 && s.functions.Of(r.Stack[i-1].Function) != nil {
			return i
		}
	}
	return -1
}

func (s *search) judge(in *inputs.Function, cost *watched.Cost) *change {
	if in.Calls < leastCalls || float64(in.Hashed) < 0.95*float64(in.Calls) || len(in.Returned) == 0 || !s.changes(in) {
		return nil
	}
	out := in.Returned[0]
	texts := out.Seen - out.Empty
	if texts < leastCalls || float64(out.Unchanged) < leastUnchanged*float64(texts) || out.Mean() < leastLength {
		return nil
	}
	seconds, bytes, ok := watched.PerCall(s.pass, cost, in)
	if !ok || seconds < leastTimes*watched.Reading(out.Mean()) && bytes < leastCopied*out.Mean() {
		return nil
	}
	return &change{in: in, unchanged: float64(out.Unchanged) / float64(out.Seen), length: out.Mean(), seconds: seconds, bytes: bytes}
}

// changes reports whether a function changes a text, by its name or its source. One that checks a
// text, finds it in a table or copies it on purpose also returns what it got.
func (s *search) changes(in *inputs.Function) bool {
	if flow.Clones(in.Name) {
		return false
	}
	short := strings.ToLower(symbol.Short(in.Name))
	if _, after, ok := strings.Cut(short, "."); ok {
		short = after
	}
	for _, no := range []string{"intern", "clone", "copy", "valid", "check", "verify", "decrypt", "encrypt", "sign"} {
		if strings.Contains(short, no) {
			return false
		}
	}
	return named(short) || edits(s.pass.Syntax, in)
}

// named reports whether a function's name says that it changes a text.
func named(short string) bool {
	for _, verb := range []string{
		"escape", "sanit", "clean", "quote", "fold", "lower", "upper", "title", "camel", "snake", "kebab", "slug", "normali", "canonical", "trim", "strip",
		"replac", "expand", "collapse", "squash", "remove", "filter", "mask", "redact", "wrap", "ascii", "unidecode", "translit", "capital", "indent",
		"dedent", "unindent", "interpolat", "substitut", "html", "convert", "transform", "rewrite", "fix", "encode", "decode",
	} {
		if strings.Contains(short, verb) {
			return true
		}
	}
	return false
}

func (s *search) describe(c *finder.Case) bool {
	f := s.functions.Of(c.Site.Function)
	caller := f == nil
	for _, rows := range [][]*site.Row{c.Allocs, c.CPU} {
		for _, r := range rows {
			if i := s.frame(r); caller && i > 0 {
				f = s.functions.Of(r.Stack[i-1].Function)
			}
		}
	}
	if f == nil {
		return false
	}
	name := symbol.Short(funcname.Typed(f.in.Name))
	cost := units.Seconds(f.seconds)
	if f.bytes >= 1 {
		cost += " and " + units.Bytes(f.bytes)
	}
	c.Cause = fmt.Sprintf("%s returned its text unchanged in %s of %s calls. A call takes %s for a text of %s on average: it copies or searches texts in which there is nothing to change.",
		name, units.Percent(f.unchanged), units.Count(f.in.Calls), cost, units.Bytes(f.length))
	c.Fix = "First look for a byte that needs a change (a loop over the bytes, strings.IndexAny), and return the text itself if there is none."
	if caller {
		c.Fix = fmt.Sprintf("First look for a byte that needs a change (a loop over the bytes, strings.IndexAny), and call %s only if there is one.", name)
	}
	if byExpressions(c.CPU) {
		c.Cause = fmt.Sprintf("%s returned its text unchanged in %s of %s calls. A call takes %s for a text of %s on average: the engine of regular expressions steps through texts in which it finds nothing to replace.",
			name, units.Percent(f.unchanged), units.Count(f.in.Calls), cost, units.Bytes(f.length))
		c.Fix = "Before each expression, test for a character or word that all its matches contain (strings.Contains, strings.IndexByte), and skip it if the text has none. " +
			"For many expressions, first run one that joins all of them (a|b|c), and return the text itself if that does not match."
	}
	left := min(watched.Reading(f.length)/max(f.seconds, 1e-12), 1)
	expect := f.unchanged * (1 - left)
	if f.seconds < leastTimes*watched.Reading(f.length) { // it is about the copies
		expect = max(expect, f.unchanged*0.5)
	}
	c.Fraction = &rule.Fraction{Expect: expect, Low: expect / 2, High: max(f.unchanged, expect)}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: name + ": " + evidence.ValuesSeen(s.pass, f.in.Name)})
	return true
}

// byExpressions reports whether most of the time goes to the engine of regular expressions.
func byExpressions(rows []*site.Row) bool {
	all, _ := stacks.Sum(rows)
	engine, _ := stacks.Sum(stacks.Select(rows, func(r *site.Row) bool { return r.Below("regexp.(*Regexp).doExecute") }))
	return all > 0 && float64(engine) > mostlyEngine*float64(all)
}
