// Package growinginput finds functions that get the text of their last call again, with something
// after it.
package growinginput

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

// Rule is growing-input.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "growing-input",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs},
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Growing text processed again from its start",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the measured share of the bytes that came before.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
				Specificity: 2, // after rescan-growing, which sees where the text grows
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function parses, renders, compresses or hashes a text that grows: a document
after each edit at its end, an answer after each piece that arrived, a log after
each line. Each call starts at the beginning and goes through all that the call
before went through, so n pieces cost n²/2 steps. hone builds the program once
more, such that expensive functions compare the beginning of each text with the
text of the last call about the same object or in the same request, by hashes
that never leave the process.

Keep the state after the last call, and process only what is new; or collect the
text, and process it once at its end or after each doubling.

It is fine where each call is cheap: the rule reports calls whose texts have at
least 512 bytes on average, of which at most 30 % are new, and that take at
least 0.3 ns for each byte of the whole text. Functions that append to the text
and return it do not read it.

Seen in the field: ClickHouse/clickhouse-go#1949 (a buffer parsed again after
each packet).`

const (
	leastCalls = 50
	leastGrown = 0.7 // share of the calls whose text begins with that of the call before
	mostNew    = 0.3 // share of the bytes of those that are new
	leastText  = 512 // bytes, on average
	leastEach  = 0.3e-9
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.functions = watched.Remember(p, s.judge)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.describe}
}

type search struct {
	pass      *rule.Pass
	functions *watched.Functions[growth]
}

// growth is a function that gets its last text again, with something after it.
type growth struct {
	name                string
	length, grown, news float64 // mean bytes; share of calls; share of the bytes in those
}

// frame returns the index of the line nearest to the root that calls such a function.
func (s *search) frame(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		if k := r.Stack[i].Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && s.functions.Of(r.Stack[i-1].Function) != nil {
			return i
		}
	}
	return -1
}

func (s *search) judge(in *inputs.Function, cost *watched.Cost) *growth {
	for _, v := range in.Given {
		if v.Grown < leastCalls || float64(v.Grown) < leastGrown*float64(v.Seen) || float64(v.NewBytes) > mostNew*float64(v.GrownBytes) || v.Mean() < leastText {
			continue
		}
		for _, out := range in.Returned {
			if out.Texts > 0 && out.Mean() >= v.Mean() {
				return nil
			}
		}
		if seconds, _, ok := watched.PerCall(s.pass, cost, in); ok && seconds >= leastEach*v.Mean() {
			return &growth{
				name: in.Name, length: v.Mean(), grown: float64(v.Grown) / float64(v.Seen), news: float64(v.NewBytes) / float64(v.GrownBytes),
			}
		}
	}
	return nil
}

func (s *search) describe(c *finder.Case) bool {
	var g *growth
	for _, rows := range [][]*site.Row{c.Allocs, c.CPU} {
		for _, r := range rows {
			if i := s.frame(r); i > 0 {
				g = s.functions.Of(r.Stack[i-1].Function)
			}
		}
	}
	if g == nil {
		return false
	}
	c.Callees = []string{g.name}
	short := symbol.Short(funcname.Typed(g.name))
	c.Cause = fmt.Sprintf("%s gets the text of its last call again, with something after it, in %s of its calls. The text has %s on average, and %s of it is new. Each call goes through all of the text, so the time grows with the square of the input.",
		short, units.Percent(g.grown), units.Bytes(g.length), units.Percent(g.news))
	c.Fix = fmt.Sprintf("Let %s process only what is new, and keep what it found before; or collect the whole text first, and call it once.", short)
	saved := g.grown * (1 - g.news)
	c.Fraction = &rule.Fraction{Expect: 0.9 * saved, Low: 0.5 * saved, High: 1}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: short + ": " + evidence.ValuesSeen(s.pass, g.name)})
	return true
}
