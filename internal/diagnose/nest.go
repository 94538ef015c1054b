package diagnose

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// A row is charged to one finding, and findings nest: a value that is made again on every call may compile
// a pattern, which is a finding of its own. The pattern's rows are charged to that. But a fix that no longer makes the value
// no longer compiles either, so that it saves both. Rules say of themselves whether their fix does so
// (rule.Rule.Removes); what it then saves is priced a second time, with the findings inside.

// nearlyAll is the part of a finding's cost that must lie inside of another's calls to go with them.
const nearlyAll = 0.9

// nest finds the drafts that others include, and prices those with them.
func (e *engine) nest(drafts []*draft) {
	type outer struct {
		*draft
		claimed map[*site.Row]bool
		weight  float64
	}
	var outers []outer
	for _, d := range drafts {
		if !d.nests() || !d.rule.Removes {
			continue
		}
		var all rows
		o := outer{draft: d, claimed: map[*site.Row]bool{}}
		for _, c := range d.claims {
			for _, k := range kinds {
				for _, r := range k.claimed(&c.match) {
					if !o.claimed[r] {
						o.claimed[r] = true
						to := k.charged(&all)
						*to = append(*to, r)
					}
				}
			}
		}
		o.weight = e.weight(e.cost(all))
		outers = append(outers, o)
	}
	// The widest first: of two that claim the same rows, the narrower never includes the wider.
	slices.SortStableFunc(outers, func(a, b outer) int { return cmp.Compare(b.weight, a.weight) })
	for _, o := range outers {
		for _, d := range drafts {
			if d == o.draft || !d.nests() || !e.above(d) || slices.Contains(d.includes, o.draft) {
				continue
			}
			var inside rows
			for _, k := range kinds {
				*k.charged(&inside) = rule.Rows(*k.charged(&d.rows), func(r *site.Row) bool { return o.claimed[r] })
			}
			if e.weight(e.cost(inside)) >= nearlyAll*e.weight(d.cost) {
				o.includes = append(o.includes, d)
			}
		}
		e.priceWith(o.draft)
	}
}

// nests reports whether a draft may include others or be included: it is a mistake in code, priced by its rows.
func (d *draft) nests() bool {
	return !d.rule.Setting && !d.rule.Generic && d.saving != nil && !d.saving.modelled && directSaving(d.claims) == nil
}

// priceWith prices a draft with what it includes.
func (e *engine) priceWith(d *draft) {
	if len(d.includes) == 0 {
		return
	}
	with := &draft{rule: d.rule, claims: d.claims, fraction: d.fraction, confidence: d.confidence}
	with.rows.add(d.rows)
	for _, i := range d.includes {
		with.rows.add(i.rows)
	}
	with.cost, with.share = e.cost(with.rows), e.table.Share(with.rows.cpu, with.rows.allocs)
	if with.saving = e.save(with); with.saving == nil || with.saving.resource != d.saving.resource {
		d.includes = nil
		return
	}
	d.with = with
}

// whole is what the fix saves with all that it removes.
func (d *draft) whole() *saving {
	if d.with != nil {
		return d.with.saving
	}
	return d.saving
}

// ranksOf are the places of drafts in a list, from 1; those that are not in it are left out.
func ranksOf(drafts, list []*draft) []int {
	var ranks []int
	for _, d := range drafts {
		if i := slices.Index(list, d); i >= 0 {
			ranks = append(ranks, i+1)
		}
	}
	slices.Sort(ranks)
	return ranks
}
