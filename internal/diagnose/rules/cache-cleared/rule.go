// Package cachecleared finds caches that are emptied before what they hold is used.
package cachecleared

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastClears = 20  // while executions were counted: fewer may be the operator's
	leastMisses = 0.3 // share of the lookups after which a value is stored again
	mostStores  = 50  // values stored between two clears: with more, the cache is of use
)

// Rule is cache-cleared.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "cache-cleared",
		Kind:  rule.CPU,
		Title: "Cache emptied before its entries are used",
		Doc:   doc,
		Needs: []rule.Need{rule.NeedCounts},
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are what computes the entries. How many of them are out of date when the
				// cache is emptied is not known.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
				Specificity: 2,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A change that empties a whole cache is correct, and simple. If changes come as
often as lookups, hardly an entry is used before it is dropped, and everything is
computed again each time, with the cost of the cache on top.

Remove the entries that the change is about: keep a list of the keys that depend
on a value, put a version number into the key, or cache the parts that do not
change.

It is fine for rare changes. The rule reports caches that are emptied again and
again, after at most 50 new entries, and that miss at least three lookups of
ten, as counted in the recording.

Seen in the field: umputun/remark42#44 (every vote flushed the cache of all
pages).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	work := 1.0
	if ph, ok := p.Manifest.Phase(recording.PhaseCounts); ok {
		work = float64(max(ph.Requests, 1))
	}
	computing := map[line]*cache{}
	for _, c := range caches(p) {
		if c.wasted(work) {
			for l := range c.work {
				computing[l] = c
			}
		}
	}
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *cache {
		if c := computing[lineOf(f)]; c != nil {
			return c
		}
		if c := ofShape(p, f, place); c != nil && c.wasted(work) {
			return c
		}
		return nil
	})
	at := func(r *site.Row) int {
		for i, f := range r.Stack {
			if i > 0 && (f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency) && lines.At(f) != nil {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		found := lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		found.describe(p, c.Match)
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// wasted reports whether a cache is emptied often, after few values that were used little.
func (c *cache) wasted(work float64) bool {
	return c.clears*work >= leastClears && c.lookups > 0 && c.stores >= leastMisses*c.lookups && c.stores <= mostStores*c.clears
}

// describe fills in a match about a line that computes the cache's values.
func (c *cache) describe(p *rule.Pass, m *rule.Match) {
	m.Confidence = rule.Likely
	where, name := c.where, syntax.Text(c.cache)
	m.Cause = fmt.Sprintf("%s (%s) empties all of %s, after %s on average: %s of the lookups find nothing, and what they look for is computed again here.",
		c.clear, where, name, units.Some(c.stores/c.clears, "new value"), units.Percent(min(1, c.stores/c.lookups)))
	m.Fix = fmt.Sprintf("At %s, remove from %s only the entries that the change is about; or put a version into the key, and let old entries expire.", where, name)
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s lookups, %s stores and %s clears per %s",
		units.Number(c.lookups), units.Number(c.stores), units.Number(c.clears), p.Manifest.Unit())})
}
