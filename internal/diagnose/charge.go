package diagnose

import (
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
)

// claim is a match, its rule, and the rows that were charged to it after overlap.
type claim struct {
	rule    rule.Rule
	match   rule.Match
	order   int     // position in the sequence of all matches
	breadth float64 // how much the match claims, over all kinds of rows
	charged rows
}

// rows are sets of rows by kind of profile.
type rows struct{ cpu, allocs, mutex, block, live []*site.Row }

// flow reports whether there are rows of costs during the recording, and not only of live memory.
func (r *rows) flow() bool { return len(r.cpu)+len(r.allocs)+len(r.mutex)+len(r.block) > 0 }

// void reports whether a claim has no rows left that its rule may report.
func (c *claim) void() bool {
	if c.match.Saving != nil || c.charged.flow() || c.rule.Urgent {
		return false
	}
	return len(c.charged.live) == 0 || !c.rule.OfMemory()
}

func (r *rows) add(o rows) {
	r.cpu = append(r.cpu, o.cpu...)
	r.allocs = append(r.allocs, o.allocs...)
	r.mutex = append(r.mutex, o.mutex...)
	r.block = append(r.block, o.block...)
	r.live = append(r.live, o.live...)
}

// kinds returns the five kinds of rows: those that a match claims and those that a claim gets.
var kinds = [...]struct {
	claimed func(*rule.Match) []*site.Row
	charged func(*rows) *[]*site.Row
	live    bool
}{
	{func(m *rule.Match) []*site.Row { return m.CPU }, func(r *rows) *[]*site.Row { return &r.cpu }, false},
	{func(m *rule.Match) []*site.Row { return m.Allocs }, func(r *rows) *[]*site.Row { return &r.allocs }, false},
	{func(m *rule.Match) []*site.Row { return m.Mutex }, func(r *rows) *[]*site.Row { return &r.mutex }, false},
	{func(m *rule.Match) []*site.Row { return m.Block }, func(r *rows) *[]*site.Row { return &r.block }, false},
	{func(m *rule.Match) []*site.Row { return m.Live }, func(r *rows) *[]*site.Row { return &r.live }, true},
}

// charge gives every claimed row to exactly one claim. Findings nest: a call that one rule reports
// may be inside a call that another reports. The row goes to
//
//  1. if it is live memory, the claim of a rule about what stays in memory: a
//     mistake that costs CPU on the same line does not say why it stays;
//  2. the claim whose recognised callee is nearest the leaf of the row, because
//     that fix is the most specific;
//  3. at the same depth, the claim of the more specific rule;
//  4. then the claim that claims less in total: it locates the cost more
//     precisely;
//  5. then the earlier one, so that the result is deterministic.
//
// What is left of the others is their cost. A claim may be left with nothing.
func charge(claims []*claim) {
	for _, c := range claims {
		c.breadth = breadth(&c.match)
		c.charged = rows{}
	}
	for _, k := range kinds {
		owner := map[*site.Row]*claim{}
		for _, c := range claims {
			for _, r := range k.claimed(&c.match) {
				if other, taken := owner[r]; !taken || beats(c, other, r, k.live) {
					owner[r] = c
				}
			}
		}
		for _, c := range claims {
			kept := k.charged(&c.charged)
			for _, r := range k.claimed(&c.match) {
				if owner[r] == c {
					*kept = append(*kept, r)
					delete(owner, r) // a match may name a row twice
				}
			}
		}
	}
}

// owners returns the claims of known mistakes by their rows of CPU and allocations.
func owners(claims []*claim) map[*site.Row]*claim {
	all := map[*site.Row]*claim{}
	for _, c := range claims {
		if c.rule.Generic {
			continue
		}
		for _, r := range slices.Concat(c.charged.cpu, c.charged.allocs) {
			all[r] = c
		}
	}
	return all
}

// beats reports whether a gets the row rather than b.
func beats(a, b *claim, r *site.Row, live bool) bool {
	if x, y := stays(a.rule), stays(b.rule); live && x != y {
		return x
	}
	if da, db := stacks.Depth(r, a.match.Callees), stacks.Depth(r, b.match.Callees); da != db {
		return da < db
	}
	if x, y := a.rule.Claims().Specificity, b.rule.Claims().Specificity; x != y {
		return x > y
	}
	if a.breadth != b.breadth {
		return a.breadth < b.breadth
	}
	return a.order < b.order
}

// stays reports whether a rule says why memory stays in use.
func stays(r rule.Rule) bool { return r.Kind == rule.Leak || r.Memory }

// unexplained drops the claims of generic rules on lines that other rules explain for the most
// part.
func (e *engine) unexplained(claims []*claim) []*claim {
	waits := 0.0 // seconds of requests that known mistakes explain
	for _, c := range claims {
		if s := c.match.Saving; s != nil && s.Latency > 0 && !c.rule.Generic {
			waits += s.Cost
		}
	}
	return slices.DeleteFunc(claims, func(c *claim) bool {
		if !c.rule.Generic {
			return false
		}
		m := &c.match
		if m.Saving != nil {
			return waits >= m.Saving.Cost/2
		}
		all := e.cost(rows{m.CPU, m.Allocs, m.Mutex, m.Block, m.Live})
		left := e.cost(c.charged)
		return e.weight(left) < e.weight(all)/2
	})
}

// breadth returns the sum of the values of all rows that a match claims. Nanoseconds and bytes do
// not add up to a cost, but they do order matches on the same site.
func breadth(m *rule.Match) float64 {
	total := 0.0
	for _, k := range kinds {
		value, _ := stacks.Sum(k.claimed(m))
		total += float64(value)
	}
	return total
}
