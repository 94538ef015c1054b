package diagnose

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
)

// A row is charged to one finding, and findings nest: a value that is created again on every call
// may compile a pattern, which is a finding of its own. The pattern's rows are charged to that. But
// a fix that no longer creates the value no longer compiles either, so it saves both. A rule says
// whether its fix does so (rule.Claim.Removes); its saving is then priced a second time, with the
// findings inside.

// Only a part of a finding may be inside of such calls: a function that formats a key runs where a
// table is built, and again where it is read. The fix then saves the part inside.

const (
	// nearlyAll is the part of a finding's cost inside of another's calls that counts as all of it.
	nearlyAll = 0.9
	// leastInside is the minimum part that is reported.
	leastInside = 0.1
)

// inside is a draft and the part of it that another's fix removes, 1 for all of it.
type inside struct {
	*draft
	part float64
}

// nest finds the drafts that others include, entirely or in part, and prices the others with them.
func (e *engine) nest(drafts []*draft) {
	type outer struct {
		*draft
		claimed map[*site.Row]bool
		weight  float64
	}
	var outers []outer
	for _, d := range drafts {
		if !d.nests() || !d.rule.Claims().Removes {
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
		var gone rows
		for _, d := range drafts {
			if d == o.draft || !d.nests() || !e.above(d) || d.has(o.draft) {
				continue
			}
			var in rows
			for _, k := range kinds {
				*k.charged(&in) = stacks.Select(*k.charged(&d.rows), func(r *site.Row) bool { return o.claimed[r] })
			}
			switch part := e.weight(e.cost(in)) / e.weight(d.cost); {
			case part >= nearlyAll:
				o.includes = append(o.includes, inside{d, 1})
				gone.add(d.rows)
			case part >= leastInside:
				o.includes = append(o.includes, inside{d, part})
				gone.add(in)
			}
		}
		e.priceWith(o.draft, gone)
	}
	for _, d := range drafts {
		if slices.Contains(d.rule.Needs, rule.NeedUpgrade) {
			e.nestMeasured(d, drafts)
		}
	}
}

// nestMeasured finds the drafts whose rows pass through the function that a newer release changed:
// the measured saving already contains theirs, so it is not priced again.
func (e *engine) nestMeasured(d *draft, drafts []*draft) {
	through := map[*site.Row]bool{}
	for _, c := range d.claims {
		for _, r := range c.match.Around {
			through[r] = true
		}
	}
	for _, o := range drafts {
		if o == d || !o.nests() || !e.above(o) {
			continue
		}
		for _, list := range [][]*site.Row{o.rows.cpu, o.rows.allocs} {
			all, _ := stacks.Sum(list)
			in, _ := stacks.Sum(stacks.Select(list, func(r *site.Row) bool { return through[r] }))
			if all > 0 && float64(in) >= nearlyAll*float64(all) {
				d.includes = append(d.includes, inside{o, 1})
				break
			}
		}
	}
}

// has reports whether a draft includes another, entirely or in part.
func (d *draft) has(o *draft) bool {
	return slices.ContainsFunc(d.includes, func(i inside) bool { return i.draft == o })
}

// nests reports whether a draft may include others or be included: it is a mistake in code, priced
// by its rows.
func (d *draft) nests() bool {
	return !d.rule.Setting && !d.rule.Generic && d.saving != nil && !d.saving.modelled && directSaving(d.claims) == nil
}

// priceWith prices a draft with the rows of others that its fix removes.
func (e *engine) priceWith(d *draft, gone rows) {
	if len(d.includes) == 0 {
		return
	}
	with := &draft{rule: d.rule, claims: d.claims, fraction: d.fraction, peer: d.peer, uncertain: d.uncertain, confidence: d.confidence}
	with.rows.add(d.rows)
	with.rows.add(gone)
	with.cost, with.share = e.cost(with.rows), e.table.Share(with.rows.cpu, with.rows.allocs)
	if with.saving = e.save(with); with.saving == nil || with.saving.resource != d.saving.resource {
		d.includes = nil
		return
	}
	d.with = with
}

// whole returns what the fix saves with everything that it removes.
func (d *draft) whole() *saving {
	if d.with != nil {
		return d.with.saving
	}
	return d.saving
}

// nested sets in a finding the findings that it includes and that include it, by their positions in
// a list of drafts. It leaves out what is not in the list.
func (d *draft) nested(f *Finding, list []*draft) {
	for at, o := range list {
		for _, i := range d.includes {
			switch {
			case i.draft != o:
			case i.part == 1:
				f.Includes = append(f.Includes, at+1)
			default:
				f.IncludesPart = append(f.IncludesPart, Part{Rank: at + 1, Share: round(i.part)})
			}
		}
		if slices.Contains(o.includes, inside{d, 1}) {
			f.IncludedIn = append(f.IncludedIn, at+1)
		}
	}
}
