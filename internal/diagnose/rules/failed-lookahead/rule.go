// Package failedlookahead finds functions of parsers that read far ahead, find nothing, and are
// called again at the next position of the same text.
package failedlookahead

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastCalls  = 50  // for each unit of work
	leastSteps  = 100 // of a line in a loop, for each call
	leastFailed = 0.8 // share of the calls that find nothing
	leastRest   = 0.6 // share of the calls that get the text of the call before, or its end
	mostSame    = 0.7 // share of the calls with all of the input of the call before
	// leastSearch is the minimum time, in seconds, of a search by one call: bytes.IndexByte passes
	// over a kilobyte in it.
	leastSearch = 50e-9
)

// Rule is failed-lookahead.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "failed-lookahead",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Rest of a text searched in vain from one position after the other",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 3, // it says why the calls of the line take long
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A parser finds what may be the start of a link, a comment or a string, and looks
ahead for its end. If there is none, it reads to the end of the text, goes back and
treats the start as plain text. At the next start it reads to the end again: a
text with n starts and no end takes n²/2 steps. Usual texts do not show it; a
medium-sized file from outside, or made on purpose, stalls the program.

Remember that a search failed, and do not repeat it: keep for each kind of end the
position from which there is none, for as long as the text is the same. Or limit
how far to look (CommonMark: 999 characters for the label of a link), or find
all starts and ends in one pass and match them with a stack. A test of the next
few bytes that comes before the search rules out most starts.

It is fine where the search mostly ends soon. The rule reports functions called at
least 50 times per request or operation that find nothing in 80 % of their calls
and take 100 steps of a loop for each, as counted, where they set the position
of a reader back, get the rest of the text of their last call, or get text[i:].
The function that goes back may be the caller of the one that reads.
It also reports calls like bytes.Index of the rest of a text in a loop that goes on
after a failure.

Seen in the field: yuin/goldmark#593 (comments without an end: 3.9 s for 160 KB),
yuin/goldmark#592, yuin/goldmark#599.`

// lookahead is a line that searches the rest of a text.
type lookahead struct {
	place  *gocode.Place
	what   string  // the function, or the call that searches
	steps  float64 // of the line for each call; 0 for one call that searches
	calls  float64 // for each unit of work
	failed float64 // share of them
	again  string  // how it is known that the text is the same; "" if the caller has to show it
}

type search struct {
	pass    *rule.Pass
	lines   *finder.Lines[lookahead]
	parts   *finder.Lines[lookahead] // lines of loops whose function may read ahead for another
	callers map[gocode.Pos]string    // by the line of a call: how it shows that the text is the same
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, callers: map[gocode.Pos]string{}}
	s.lines = finder.Remember(p, s.look)
	s.parts = finder.Remember(p, s.part)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.judge}
}

// frame returns the index of the line nearest to the leaf that searches the rest of a text, -1 for
// none.
func (s *search) frame(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if l := s.lines.At(f); l != nil && (l.again != "" || s.sliced(r, i) != "") {
			return i
		}
		if l := s.parts.At(f); l != nil && s.helps(l, r, i) {
			return i
		}
	}
	return -1
}

// look returns what a line searches; nil for nothing.
func (s *search) look(f *site.Frame, p *gocode.Place) *lookahead {
	if p.Decl == nil {
		return nil
	}
	if l := s.inLoop(f, p); l != nil {
		return l
	}
	e, ok := evidence.Executions(s.pass, *f)
	if loop := loopAt(p); loop != nil {
		if head, counted := evidence.ExecutionsAt(s.pass, p, loop.Pos()); counted && head.PerUnit > e.PerUnit {
			e, ok = head, true // the line of a case has no count
		}
	}
	if !ok || e.Calls < leastCalls {
		return nil
	}
	l := &lookahead{place: p, what: syntax.FuncName(p), calls: e.Calls}
	if loopAt(p) != nil && e.PerCall >= leastSteps {
		l.steps = e.PerCall
	} else if searched(p) == nil {
		return nil
	}
	if l.failed = s.failing(p) / e.Calls; l.failed < leastFailed {
		return nil
	}
	l.failed = min(l.failed, 1)
	switch {
	case l.steps > 0 && restores(p):
		l.again = "sets the position back when it finds nothing"
	case s.rest(p):
		l.again = "gets the rest of the text that its last call got, as counted"
	}
	return l
}

// judge completes a finding.
func (s *search) judge(c *finder.Case) bool {
	l := s.lines.At(&c.Site.Frame)
	if l == nil {
		l = s.parts.At(&c.Site.Frame)
	}
	if l == nil {
		return false
	}
	spent, _ := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(spent)/1e9)
	if l.steps == 0 && (!ok || each < leastSearch) {
		return false
	}
	again := l.again
	for _, r := range c.CPU {
		for i, f := range r.Stack {
			if again == "" && f.File == c.Site.File && f.Line == c.Site.Line {
				again = s.sliced(r, i)
			}
		}
	}
	if again == "" {
		return false
	}
	unit := c.Pass.Manifest.Unit()
	far := "it takes " + units.Seconds(each) + " each time"
	if l.steps > 0 {
		far = "the line runs " + evidence.Times(l.steps) + " in each call"
	}
	c.Cause = fmt.Sprintf("%s looks ahead in a text and finds nothing in %s of %s per %s: %s, and all of that is read in vain. It %s, so the next search, a little further on, reads the same rest again: the time grows with the square of the length.",
		l.what, units.Percent(l.failed), calls(l.calls), unit, far, again)
	c.Fix = "Remember where a search failed: keep the position from which there is no end, and skip the search at later positions of the same text. Or limit how far to look, or match starts and ends in one pass. Until then, limit the length of texts that come from outside."
	c.Confidence = rule.Likely
	return true
}

func calls(n float64) string { return units.Count(int64(n+0.5)) + " calls" }

// rest reports whether most calls of a function got the text of the call before, or its end.
func (s *search) rest(p *gocode.Place) bool {
	in := s.pass.Inputs.Of(syntax.ProfileName(p))
	if in == nil || p.Func != p.Decl || len(in.Again) > 0 && float64(in.Again[0].Same) > mostSame*float64(in.Again[0].Calls) {
		return false // the same question again is another mistake
	}
	for _, v := range in.Given {
		if v.Seen >= leastCalls && float64(v.Rest) >= leastRest*float64(v.Seen) && v.Mean() >= leastSteps {
			return true
		}
	}
	return false
}

// failing returns how often a function returned nothing for each unit of work.
func (s *search) failing(p *gocode.Place) (n float64) {
	for _, ret := range nothings(p) {
		ran, _ := evidence.ReachedAt(s.pass, p, ret.Pos())
		n += ran
	}
	return n
}

// searching are calls that look for something in their first argument.
var searching = []string{"bytes.Index*", "bytes.Contains*", "bytes.Cut", "strings.Index*", "strings.Contains*", "strings.Cut"}

// searchCalls reports whether a function is one of these.
func searchCalls(name string) bool { return funcname.Match(name, searching...) }
