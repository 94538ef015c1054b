// Package cachemiss finds caches that hardly ever hit.
package cachemiss

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/caching"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	leastLookups = 1000 // while counters ran: a cache with fewer may still be filling
	mostHits     = 0.05 // share of the lookups
	mostByChance = 0.8  // of lookups whose key is built in the order of a map: small ones repeat by chance
)

// Rule is cache-miss.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "cache-miss",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
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

A key that is built in a loop over a map has another order each time: sort its
parts. Build the key only from what the value depends on, or make the cache large
enough for the keys that recur, and measure the hit rate. If keys do not repeat,
remove the cache: it only costs CPU and memory.

It is fine while a cache is being filled, and where it lives for a few lookups, as
one that belongs to a transaction. The rule compares how often the lookup
and the store ran, as counted in the recording: it reports caches with at least
a thousand lookups, of which fewer than one in twenty hit; or fewer than four in
five, if the key is built in the order of a map. It ignores sets (map[K]bool,
map[K]struct{}), and tables that get an empty object for a new key.
Where the function does not return the value but goes on to use it, the counted
inputs must show that the value is computed from the same few inputs each time:
then the cache keeps nothing, as one whose size is 0 until an option sets it.

Seen in the field: elastic/beats#32734 (a cache whose elements expired long
before they were looked up again), go-text/typesetting#56 (a cache of fonts),
authzed/spicedb#841 (keys in an order of their own for each request).`

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
	place           *gocode.Place
	lookups, stores float64
	order           string           // the loop over a map that builds the key in its order; ""
	again           *inputs.Function // computes the value from the same few inputs; nil if that was not seen
}

// missAt returns the cache whose misses a line computes; nil for none, or for one that hits.
func missAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *miss {
	sh, again := filled(p, place)
	if sh == nil || !sh.Computes(place) || sh.Creates(place) {
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
	m := &miss{Shape: *sh, place: place, again: again, lookups: look.PerUnit, stores: store.PerUnit}
	units := 1.0
	if ph, ok := p.Manifest.Phase(recording.PhaseCounts); ok {
		units = float64(max(ph.Requests, 1))
	}
	hits := mostHits
	if m.order = mapOrder(place, sh.Key); m.order != "" {
		hits = mostByChance
	}
	if m.lookups*units < leastLookups || m.stores < (1-hits)*m.lookups || sh.ShortLived(p, place, m.lookups) {
		return nil
	}
	return m
}

// filled returns the cache that the function around a place fills, nil for none, and the function
// that computes the value from the same few inputs, nil if that was not seen.
func filled(p *rule.Pass, place *gocode.Place) (*caching.Shape, *inputs.Function) {
	if sh, ok := caching.Of(place); ok {
		if counts(place, sh) {
			return nil, nil
		}
		return &sh, nil
	}
	sh, computes, ok := caching.InPlace(place)
	if !ok || computes == nil || p.Inputs == nil {
		return nil, nil
	}
	const (
		fewest  = 100 // calls
		repeats = 20  // of each input
	)
	name := place.CalleeName(computes)
	for i := range p.Inputs.Functions {
		in := &p.Inputs.Functions[i]
		if syntax.Profiled(place, in.Name) == name && in.Calls >= fewest && in.Hashed == in.Calls && in.Stable > 0 && repeats*in.Stable <= in.Calls {
			return &sh, in
		}
	}
	return nil, nil
}

// counts reports whether the function counts or adds up in what it finds: a state for each key,
// which is new for each new key.
func counts(p *gocode.Place, sh caching.Shape) (found bool) {
	lookup, ok := sh.Lookup.(*ast.AssignStmt)
	if !ok {
		return false
	}
	v := syntax.Named(p, lookup.Lhs[0])
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		var to ast.Expr
		switch n := n.(type) {
		case *ast.IncDecStmt:
			to = n.X
		case *ast.AssignStmt:
			if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
				to = n.Lhs[0]
			}
		}
		if to != nil {
			root, part := syntax.Var(p, to)
			found = found || part && root == v
		}
		return !found
	})
	return found
}

func (c *miss) describe(p *rule.Pass, m *rule.Match) {
	hits := max(0, 1-c.stores/c.lookups)
	if c.again != nil {
		c.describeEmpty(p, m, hits)
		return
	}
	if c.order != "" {
		m.Cause = fmt.Sprintf("%s is looked up %s per %s, and %s of the lookups find something: the key %s is built from the entries of a map in the order in which range gives them (%s). That is another one each time, so equal maps get different keys.",
			syntax.Text(c.Cache), evidence.Times(c.lookups), p.Manifest.Unit(), units.Percent(hits), syntax.Text(c.Key), c.order)
		m.Fix = fmt.Sprintf("Sort the parts before they become the key: range over slices.Sorted(maps.Keys(…)) (%s).", c.order)
		m.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.2, High: 1}
		c.prove(p, m)
		return
	}
	key := syntax.Text(c.Key)
	if key != "key" {
		key = "key " + key
	}
	m.Cause = fmt.Sprintf("%s is looked up %s per %s, and %s of the lookups find something: the %s hardly ever repeats while the value is kept, so the value is computed nearly every time.",
		syntax.Text(c.Cache), evidence.Times(c.lookups), p.Manifest.Unit(), units.Percent(hits), key)
	m.Fix = fmt.Sprintf("Build the %s only from what the value depends on (no time, address or request name), or make the cache large enough for the keys that recur. If keys do not repeat, remove the cache.", key)
	if found := changing(c.place, c.Key); found != nil {
		m.Cause = fmt.Sprintf("%s is looked up %s per %s, and %s of the lookups find something, so the value is computed nearly every time. The %s differs at nearly every lookup: %s.",
			syntax.Text(c.Cache), evidence.Times(c.lookups), p.Manifest.Unit(), units.Percent(hits), key, found.is)
		m.Fix = found.fix + " If keys still do not repeat, remove the cache."
	}
	c.prove(p, m)
}

// describeEmpty fills in the words for a cache that keeps nothing although its key repeats.
func (c *miss) describeEmpty(p *rule.Pass, m *rule.Match, hits float64) {
	name := symbol.Short(funcname.Typed(c.again.Name))
	limit, setter := bound(c.place, c.Cache)
	m.Cause = fmt.Sprintf("%s creates the same value again on nearly every call: %s is looked up %s per %s, and %s of the lookups find something, although %s got %s in %s calls. The cache keeps nothing until the next lookup.%s",
		name, syntax.Text(c.Cache), evidence.Times(c.lookups), p.Manifest.Unit(), units.Percent(hits), name, evidence.Different(units.Count(c.again.Stable)), units.Count(c.again.Calls), limit)
	m.Fix = fmt.Sprintf("Make the cache large enough for the values of %s that recur, and keep it between the calls, so that each is created once and reused.", syntax.Text(c.Key))
	if setter != "" {
		m.Fix = fmt.Sprintf("Call %s with the number of different values of %s that recur, so that each value is created once and reused.", setter, syntax.Text(c.Key))
	}
	again := 1 - float64(c.again.Stable)/float64(c.again.Calls) // counted, unlike for other keys
	m.Fraction = &rule.Fraction{Expect: 0.9 * again, Low: 0.6 * again, High: again}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s: %s calls, with %s", name, units.Count(c.again.Calls), evidence.Different(units.Count(c.again.Stable)))})
	c.prove(p, m)
}

// prove adds what was counted.
func (c *miss) prove(p *rule.Pass, m *rule.Match) {
	m.Confidence = rule.Likely // the misses are counted; the effect of a better key is not
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s lookups and %s stores per %s", units.Number(c.lookups), units.Number(c.stores), p.Manifest.Unit()),
	})
}
