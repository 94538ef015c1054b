// Package passperpattern finds loops that search a text, walk a tree, or read a document from its
// start once for each of many patterns, names or parts.
package passperpattern

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is pass-per-pattern.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pass-per-pattern",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Whole text or tree searched once per pattern",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Each match overrides it with what its number of patterns saves.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.1, High: 0.97},
				Specificity: 3, // scan-per-lookup would index the patterns
				Removes:     true,
			},
			Lines: []finder.Line{
				{Start: finder.Calls{Functions: []string{"strings.ReplaceAll", "strings.Replace", "bytes.ReplaceAll", "bytes.Replace"}}, Judge: judge},
				{Start: finder.Calls{Functions: []string{"strings.Contains", "strings.Index", "strings.Count", "bytes.Contains", "bytes.Index", "bytes.Count"}}, Judge: searched},
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop over patterns searches the same text for one after the other, or replaces
one after the other. Each iteration reads the whole text, and copies it if it
replaces the pattern.

To replace, build a strings.Replacer of all pairs once, keep it, and replace them
all in one pass over the text. A Replacer does not search in its replacements: if
a later pattern has to match an earlier replacement, keep the loop. To search,
build an automaton of all patterns once (Aho–Corasick), which looks at each byte
once. If the patterns are whole words, split the text into words and look each up
in a map.

So is a loop that walks the same tree for each of many names: a syntax tree
(ast.Inspect, astutil.UsesImport), or a directory (filepath.WalkDir). Walk it
once, collect what all of them need in a map, and look each up.

So is a loop that takes one part after the other out of an encoded document, by
a path or an index: each lookup reads the document again from its start.

It is fine for few patterns. A search for one pattern skips most of a text with
vector instructions, while a Replacer looks at each byte: one pass takes as long
as about 90 searches in a text without the patterns' first bytes, and as long as
about 5 in a text that is full of them. The rule reports only loops that were
counted with at least 100 patterns, and at least five walks of a tree.

Seen in the field: prometheus/common#150 (34 to 54 % less time with a Replacer
instead of calls of strings.Replace), trufflesecurity/trufflehog#1144 and
launchdarkly/ld-find-code-refs#174 (keywords, with Aho–Corasick);
goadesign/goa#3832 (a generated file walked for each of its imports).`

// One pass of a Replacer takes as long as so many searches, at most and at least: of texts without
// and with the first bytes of the patterns (go test -bench Passes).
const (
	mostSearches  = 90
	leastSearches = 5
)

// least is the number of patterns from which one pass is faster in any text.
const least = 100

func judge(c *finder.Case) bool {
	p := c.Place
	if len(c.Calls) != 1 {
		return false
	}
	call := c.Calls[0]
	text := syntax.LocalVar(p, call.Args[0])
	loop := p.LoopAround(call)
	if text == nil || loop == nil || !keeps(p, call) || syntax.Inside(loop, text.Pos()) {
		return false // also a text of its own in each iteration
	}
	if loops.Invariant(p, loop, call.Args[1]) {
		return false // the same pattern again, until it is gone
	}
	line := syntax.Line(p, loop.Pos())
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, line)
	if !ok || l.Iterations < least {
		return false
	}
	c.Fraction = fraction(l.Iterations)
	c.Cause = fmt.Sprintf("The loop on line %d searches all of %s once for each of %s patterns, and copies it for each pattern that it finds.",
		line, text.Name(), units.Number(l.Iterations))
	c.Fix = "Build a strings.NewReplacer of all pairs once, keep it, and replace all patterns in one pass. It does not search in the replacements."
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the loop is reached", units.Number(l.Iterations)),
	})
	return true
}

// searched judges a loop that searches the same text for each of many patterns.
func searched(c *finder.Case) bool {
	p := c.Place
	if len(c.Calls) != 1 || len(c.Calls[0].Args) != 2 {
		return false
	}
	call := c.Calls[0]
	inner, outer := p.LoopAround(call), loops.Same(p, call, call.Args[0])
	if inner == nil || outer == nil || loops.Invariant(p, inner, call.Args[1]) {
		return false
	}
	line := syntax.Line(p, outer.Pos())
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, line)
	runs, counted := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || !counted {
		return false
	}
	patterns := runs.PerUnit / l.Entries
	if patterns < least {
		return false
	}
	text := syntax.Text(call.Args[0])
	c.Fraction = fraction(patterns)
	c.Cause = fmt.Sprintf("The loop on line %d searches all of %s once for each of %s patterns.", line, text, units.Number(patterns))
	c.Fix = fmt.Sprintf("Build an automaton of all patterns once (Aho–Corasick), and search %s in one pass. If the patterns are whole words, split %s into words and look each up in a map.", text, text)
	c.Confidence = rule.Likely // the patterns may differ from call to call
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s searches of the same text each time the loop is reached", units.Number(patterns)),
	})
	return true
}

// keeps reports whether the result of a call becomes the text for the next one.
func keeps(p *gocode.Place, call *ast.CallExpr) bool {
	to := syntax.AssignedTo(p, call)
	return to != nil && syntax.Same(p, to, call.Args[0])
}

// fraction is what one pass saves of so many searches.
func fraction(patterns float64) *rule.Fraction {
	low, high := 1-mostSearches/patterns, 1-leastSearches/patterns
	return &rule.Fraction{Expect: (low + high) / 2, Low: low, High: high}
}
