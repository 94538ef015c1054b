// Package cachemiss finds caches that hardly ever hit.
package cachemiss

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/caching"
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
	leastLookups = 1000 // while counters ran: a cache with fewer may still be filling
	mostHits     = 0.05 // share of the lookups
)

// Rule is cache-miss.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "cache-miss",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Cache that almost never hits",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// If the key repeats, nearly all lookups save the computation of a miss. How often
				// keys then repeat was not measured.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.05, High: 1},
				Specificity: 1, // the computation is not a mistake; repeating it is
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function looks its key up in a cache or a map, and on a miss computes the
value, stores it and returns it. When almost no lookup hits, the program pays
for the lookup, the work and the store each time. The key may contain something
that never recurs (a time, an address, a request name), the cache may be too
small, or it may be cleared before keys recur.

Build the key only from what the value depends on, or make the cache large
enough for the keys that recur, and measure the hit rate. If keys do not repeat,
remove the cache: it only costs CPU and memory.

It is fine while a cache is being filled. The rule compares how often the lookup
and the store ran, as counted in the recording: it reports caches with at least
a thousand lookups, of which fewer than one in twenty hit. It ignores sets
(map[K]bool, map[K]struct{}), and tables that get an empty object for a new key.

Seen in the field: elastic/beats#32734 (a cache whose elements expired long
before they were looked up again).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *miss { return missAt(p, f, place) })
	judge := func(c *finder.Case) bool {
		found := lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		found.describe(p, c.Match)
		return true
	}
	return finder.Line{Start: finder.Frames(lines.Nearest), Judge: judge}
}

// miss is a cache and how often it is looked up and filled for each unit of work.
type miss struct {
	caching.Shape
	lookups, stores float64
}

// missAt returns the cache whose misses a line computes; nil for none, or for one that hits.
func missAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *miss {
	sh, ok := caching.Of(place)
	if !ok || !sh.Computes(place) || sh.Creates(place) {
		return nil
	}
	look, ok := p.Counts.Line(f.Owner.Package, f.File, syntax.Line(place, sh.Lookup.Pos()))
	if !ok || look.PerUnit <= 0 {
		return nil
	}
	store, ok := p.Counts.Line(f.Owner.Package, f.File, syntax.Line(place, sh.Store.Pos()))
	if !ok {
		return nil
	}
	m := &miss{Shape: sh, lookups: look.PerUnit, stores: store.PerUnit}
	units := 1.0
	if ph, ok := p.Manifest.Phase(recording.PhaseCounts); ok {
		units = float64(max(ph.Requests, 1))
	}
	if m.lookups*units < leastLookups || m.stores < (1-mostHits)*m.lookups {
		return nil
	}
	return m
}

func (c *miss) describe(p *rule.Pass, m *rule.Match) {
	hits := max(0, 1-c.stores/c.lookups)
	m.Cause = fmt.Sprintf("%s is looked up %s per %s, and %s of the lookups find something: the key %s hardly ever repeats while the value is kept, so the value is computed nearly every time.",
		syntax.Text(c.Cache), evidence.Times(c.lookups), p.Manifest.Unit(), units.Percent(hits), syntax.Text(c.Key))
	m.Fix = fmt.Sprintf("Build %s only from what the value depends on (no time, address or request name), or make the cache large enough for the keys that recur. If keys do not repeat, remove the cache.", syntax.Text(c.Key))
	m.Confidence = rule.Likely // the misses are counted; the effect of a better key is not
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s lookups and %s stores per %s", units.Number(c.lookups), units.Number(c.stores), p.Manifest.Unit()),
	})
}
