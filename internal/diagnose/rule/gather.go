package rule

import (
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Gather is [Pass.Judge] for calls into other modules, whose rows are charged to lines of
// those modules: at says which frame of a row called (its index in the stack, -1
// for a row of no interest), and the rows of all sites with that frame are one match. A line
// that owns no row itself becomes a site without rows.
func (p *Pass) Gather(at func(*site.Row) int, guilty func(*gocode.Place, *Match) bool, unseen *Words) []Match {
	type key struct {
		function, file string
		line           int
	}
	sites := map[key]*site.Site{}
	for _, s := range p.Table.Sites {
		sites[key{s.Function, s.File, s.Line}] = s
	}
	var order []key
	found := map[key]*Match{}
	each := func(rows []*site.Row, into func(*Match) *[]*site.Row) {
		for _, r := range rows {
			i := at(r)
			if i < 0 {
				continue
			}
			f := r.Stack[i]
			k := key{f.Function, f.File, f.Line}
			m := found[k]
			if m == nil {
				m = &Match{Site: sites[k]}
				if m.Site == nil {
					m.Site = &site.Site{Frame: *f, Entry: entry(r, i)}
				}
				found[k] = m
				order = append(order, k)
			}
			*into(m) = append(*into(m), r)
		}
	}
	for _, s := range p.Table.Sites {
		each(s.CPU, func(m *Match) *[]*site.Row { return &m.CPU })
		each(s.Allocs, func(m *Match) *[]*site.Row { return &m.Allocs })
		each(s.Live, func(m *Match) *[]*site.Row { return &m.Live })
	}
	var matches []Match
	for _, k := range order {
		if m := found[k]; p.judge(m, guilty, unseen) {
			matches = append(matches, *m)
		}
	}
	return matches
}

// entry is the main module's line that leads to the frame i of a row.
func entry(r *site.Row, i int) *site.Frame {
	for _, f := range r.Stack[i:] {
		if f.Owner.Kind == gocode.Main {
			return f
		}
	}
	return nil
}
