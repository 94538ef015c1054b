// Package needlessinvalidation finds kept results that are computed again after changes of values
// that they do not depend on.
package needlessinvalidation

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastNeedless = 0.3 // share of the invalidations
	leastComputed = 0.1 // share of the uses that compute the result again
)

// Rule is needless-invalidation.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "needless-invalidation",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Kept result dropped by changes that it does not depend on",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of needless invalidations.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.4, High: 1},
				Specificity: 4, // how the result is computed does not matter where it is not needed
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A program keeps a result that is expensive to compute: the view of a user, a
merged configuration, an index. Each change of the state marks it as outdated: it
adds one to a version, sets a flag, or sets the result to nil. But most changes
are of values that the result is not computed from: the time at which a client
was last heard of, a counter, a status. The next use computes the same result
again. With a heartbeat for each client and second, nothing is ever kept.

Invalidate only where a value changes that the result depends on, and only if the
new value differs from the old one. Keep what changes all the time (heartbeats,
counters) apart from the rest of the state. If different results depend on
different parts, give each part a version of its own.

It is fine where the result does depend on what changed. The rule reads what the
computation reads, through the functions of its package, and what the functions
that invalidate it set. It reports results that are computed again in at least a
tenth of their uses, if at least three of ten invalidations, as counted, set only
fields that the computation does not read.

Seen in the field: istio/istio#44613 (each change of a status rebuilt and sent
all of the configuration), juanfont/headscale#3417 (nodes that had not changed
were announced again, and the map of each client computed for them).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, counted: map[*types.Package]map[*types.Var]bool{}}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.lines.Farthest), Judge: s.judge}
}

type search struct {
	pass    *rule.Pass
	lines   *finder.Lines[outdated]
	counted map[*types.Package]map[*types.Var]bool // see countedIn
}

// versions is [countedIn] for the package of a place.
func (s *search) versions(p *gocode.Place) map[*types.Var]bool {
	found, seen := s.counted[p.Pkg]
	if !seen {
		found = countedIn(p)
		s.counted[p.Pkg] = found
	}
	return found
}

// outdated is a line that computes a kept result again.
type outdated struct {
	guard    *guard
	uses     float64 // of the result, for each unit of work
	computed float64 // how often it is computed
	changes  float64 // invalidations
	needless float64 // those of values that it does not depend on
	where    string  // the one that runs most of those, and its function
	in       string
	sets     []string // what it sets
}

// look returns what a line computes again after needless invalidations; nil for nothing.
func (s *search) look(f *site.Frame, place *gocode.Place) *outdated {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	for _, g := range guards(p, func() map[*types.Var]bool { return s.versions(p) }) {
		at := g.computing(p)
		if at == nil {
			continue
		}
		found := &outdated{guard: g}
		var ok1, ok2 bool
		found.uses, ok1 = evidence.ReachedAt(s.pass, p, g.test.Pos())
		found.computed, ok2 = evidence.ReachedAt(s.pass, p, at.Pos())
		if !ok1 || !ok2 || found.computed <= 0 || found.computed < leastComputed*found.uses {
			continue
		}
		if reads := readsOf(s.pass, p); reads != nil && s.invalidated(p, found, reads) {
			return found
		}
	}
	return nil
}

// invalidated fills in which changes make a result outdated, and reports whether enough of them are
// of values that it does not depend on.
func (s *search) invalidated(p *gocode.Place, found *outdated, reads *fields) bool {
	most := 0.0
	for _, c := range found.guard.changes(s.pass, p) {
		runs, ok := evidence.ReachedAt(s.pass, p, c.at.Pos())
		if !ok || runs == 0 {
			continue
		}
		found.changes += runs
		set := setBy(p, c, found.guard.of)
		if set == nil || set.acts || found.guard.takes(p, c.in) || len(set.names) == 0 || slices.ContainsFunc(set.vars, reads.has) {
			continue
		}
		if found.needless += runs; runs > most {
			most, found.where, found.in, found.sets = runs, syntax.Where(p, c.at.Pos()), syntax.FuncName(p.Entry(cmp.Or(c.by, c.in))), set.names
		}
	}
	return found.needless > 0 && found.needless >= leastNeedless*found.changes
}

func (s *search) judge(c *finder.Case) bool {
	f := s.lines.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	share := f.needless / f.changes
	c.Fraction = &rule.Fraction{Expect: 0.9 * share, Low: 0.4 * share, High: 1}
	c.Confidence = rule.Likely // code that was not seen may depend on it
	name := syntax.Text(f.guard.name)
	again := fmt.Sprintf("in %s of its uses", units.Percent(min(1, f.computed/f.uses)))
	c.Cause = fmt.Sprintf("The kept result is computed again %s, because changes make it outdated (%s): %s of these changes set values that it is not computed from. %s (%s) only sets %s.",
		again, name, units.Percent(share), f.in, f.where, funcname.List(f.sets))
	c.Fix = fmt.Sprintf("Leave %s as it is in %s, and change it only where a value that the result is computed from gets another value.", name, f.in)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s uses, %s computed, %s changes and %s needless ones per %s", units.Number(f.uses), units.Number(f.computed),
			units.Number(f.changes), units.Number(f.needless), s.pass.Manifest.Unit()),
	})
	return true
}

// change is a node that makes a result outdated, and the function whose change of the state it
// reports.
type change struct {
	at ast.Node
	in *ast.FuncDecl
	// by is the function whose literals, apply, the function in gets and calls to make the change;
	// nil for others.
	by    *ast.FuncDecl
	apply []*ast.FuncLit
}
