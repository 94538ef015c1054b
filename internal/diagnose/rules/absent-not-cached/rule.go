// Package absentnotcached finds caches that do not remember which keys are absent.
package absentnotcached

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/caching"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	leastComputed = 1000 // values, while counters ran: a cache with fewer may still be filling
	leastAbsent   = 0.5  // share of them that the cache does not keep
	mostDifferent = 0.1  // keys per call: with more, keeping absent ones saves little and takes memory
)

// Rule is absent-not-cached.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "absent-not-cached",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts, rule.NeedInputs},
		Uses:  []rule.Need{rule.NeedTrace},
		Title: "Cache that does not keep what was not found",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// describe replaces it by what was counted.
				Fraction:    rule.Fraction{Expect: 0.5, Low: 0.35, High: 1},
				Specificity: 2, // the computation is not a mistake; repeating it for an absent key is
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function looks its key up in a cache, and on a miss computes or fetches the
value. When there is none (no row, no such file, an error), it returns without
storing anything. Keys that exist are then cached, and keys that do not are
fetched each time; in many programs most of the traffic is for those.

Store absence as well: a marker or a nil value (a negative entry), with a short
lifetime if the key may come to exist, and remove it where the key is created.
Keep real failures, such as a timeout, out of the cache, or for seconds only. If
there are too many absent keys to keep, a Bloom filter of the existing ones
answers for most of them.

It is fine when each absent key is asked for once, and where the cache lives for a
few lookups, as one that belongs to a transaction. The rule compares how often
the value is computed and stored, as counted in the recording, and how many
different keys the function got: it reports caches that keep less than half of
what they compute, with at least ten calls per key.

Seen in the field: hashicorp/vault#5303 (a cache that did not keep empty entries).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *absent { return absentAt(p, f, place) })
	judge := func(c *finder.Case) bool {
		a := lines.At(&c.Site.Frame)
		if a != nil {
			a.describe(p, c.Match)
			awaited.Price(p, c.Match, *c.Fraction, "this call") // asking another server costs little CPU
		}
		return a != nil
	}
	return finder.Line{Start: finder.Frames(lines.Nearest), Judge: judge}
}

// absent is a cache that does not keep most of what is computed, per unit of work.
type absent struct {
	caching.Shape
	function         string
	computed, stores float64
	different        float64 // keys per call
}

// absentAt returns the cache that does not keep what a line computes; nil for none.
func absentAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *absent {
	sh, ok := caching.Around(place)
	if !ok || !sh.Computes(place) || branches(place, sh.Store) {
		return nil
	}
	line := func(n int) float64 {
		e, _ := p.Counts.Line(f.Owner.Package, f.File, n)
		return e.PerUnit
	}
	a := &absent{Shape: sh, function: f.Function, computed: line(f.Line), stores: line(syntax.Line(place, sh.Store.Pos()))}
	owner := place.Outer()
	if lit, ok := place.Func.(*ast.FuncLit); ok && parameter(place, lit, sh.Key) {
		owner = place // a loader that a function makes
	} else if ok {
		a.function = syntax.ProfileName(owner)
	}
	if sh.StoredAt.IsValid() {
		at, _ := evidence.ReachedAt(p, place, sh.StoredAt)
		a.stores = min(a.stores, at)
	}
	work := 1.0
	if ph, ok := p.Manifest.Phase(recording.PhaseCounts); ok {
		work = float64(max(ph.Requests, 1))
	}
	if a.computed*work < leastComputed || a.stores > (1-leastAbsent)*a.computed {
		return nil
	}
	if sh.ShortLived(p, place, a.stores) {
		return nil
	}
	in := p.Inputs.Of(a.function)
	if in == nil || in.Calls == 0 || in.Hashed < in.Calls || !watched.ByValue(owner, in) {
		return nil
	}
	a.different = float64(in.Different) / float64(in.Calls)
	if a.different > mostDifferent {
		return nil
	}
	return a
}

// parameter reports whether a key is a parameter of a function literal.
func parameter(p *gocode.Place, lit *ast.FuncLit, key ast.Expr) bool {
	v, _ := syntax.Var(p, key)
	return v != nil && lit.Type.Params.Pos() <= v.Pos() && v.Pos() < lit.Type.Params.End()
}

// branches reports whether a line is in a branch, such as that of a hit, that never reaches the
// store.
func branches(p *gocode.Place, store ast.Node) bool {
	for _, n := range p.Nodes {
		if s, ok := n.(*ast.IfStmt); ok && syntax.Line(p, s.Body.Pos()) < p.Line && p.Line <= syntax.Line(p, s.Body.End()) && !syntax.Within(s, store) {
			return true
		}
	}
	return false
}

func (a *absent) describe(p *rule.Pass, m *rule.Match) {
	gone := 1 - a.stores/a.computed
	cache, key := syntax.Text(a.Cache), syntax.Text(a.Key)
	seen := evidence.InputsOf(p, p.Inputs.Of(a.function))
	m.Cause = fmt.Sprintf("%s keeps only what is found: %s of the values that are computed on a miss are not stored, so the program searches again for the same absent keys. %s %s.",
		cache, units.Percent(gone), symbol.Short(funcname.Typed(a.function)), seen)
	m.Fix = fmt.Sprintf("Also store in %s that there is nothing for %s (a negative entry), with a short lifetime if a value may appear later, and remove it where the key is created. Do not store failures such as timeouts.",
		cache, key)
	m.Fraction = &rule.Fraction{Expect: 0.95 * gone * (1 - a.different), Low: 0.7 * gone * (1 - a.different), High: gone}
	m.Confidence = rule.Likely // whether absence may be cached is not known
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s computations and %s stores per %s", units.Number(a.computed), units.Number(a.stores), p.Manifest.Unit()),
	}, rule.Evidence{What: evidence.InputsCounted, Value: seen})
}
