package finder

import (
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// often is the number of objects that a line must have made at least before a
// rule about work done again and again speaks of it.
const often = 16

// Words say what a match is about.
type Words struct{ Cause, Fix string }

// Judge is the walk that rules about what a line makes share. It asks take for the rows of each
// site, drops what runs once (see [stacks.Steady]), lines that made a few objects only, and what is live (that
// was kept, not made in vain), and asks guilty with the syntax around the line; guilty fills in the words. A
// site without source becomes a hint with the words of unseen, or nothing when unseen is nil.
// For lines of which the calls alone tell, see [Search].
func Judge(p *rule.Pass, take func(*site.Site) rule.Match, guilty func(*gocode.Place, *rule.Match) bool, unseen *Words) []rule.Match {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		m := take(s)
		if repeated(&m) && decide(p, &m, guilty, unseen) {
			m.Evidence = append(m.Evidence, evidence.Compiler(p, m.Site)...)
			matches = append(matches, m)
		}
	}
	return matches
}

// Gather is [Judge] for calls into other modules, whose rows are charged to lines of
// those modules: at says which frame of a row called (its index in the stack, -1
// for a row of no interest), and the rows of all sites with that frame are one match. A line
// that owns no row itself becomes a site without rows.
func Gather(p *rule.Pass, at func(*site.Row) int, guilty func(*gocode.Place, *rule.Match) bool, unseen *Words) []rule.Match {
	var matches []rule.Match
	for _, m := range gather(p, at) {
		if repeated(m) && decide(p, m, guilty, unseen) {
			m.Evidence = append(m.Evidence, evidence.Compiler(p, m.Site)...)
			matches = append(matches, *m)
		}
	}
	return matches
}

// Through gathers the CPU rows in which a line of the main module or a dependency calls one of the
// named functions, whoever is blamed for them: below a library that calls back
// (database/sql and its drivers, sort and its comparisons) that is somebody else's line. Each
// match has one line, nearest the leaf; a line without costs of its own gets a site that holds nothing.
func Through(p *rule.Pass, functions ...string) []rule.Match {
	var matches []rule.Match
	for _, m := range gather(p, func(r *site.Row) int { return caller(r, functions) }) {
		m.Allocs, m.Callees = nil, functions
		if len(m.CPU) > 0 {
			matches = append(matches, *m)
		}
	}
	return matches
}

// caller returns the index of the module's frame, nearest the leaf, that calls one of the functions; -1 for none.
func caller(r *site.Row, functions []string) int {
	for i := 1; i < len(r.Stack); i++ {
		kind := r.Stack[i].Owner.Kind
		if (kind == gocode.Main || kind == gocode.Dependency) && funcname.Match(r.Stack[i-1].Function, functions...) {
			return i
		}
	}
	return -1
}

// gather makes a match for each line that at picks, of the rows of CPU and allocations that it picks it for.
func gather(p *rule.Pass, at func(*site.Row) int) []*rule.Match {
	type key struct {
		function, file string
		line           int
	}
	sites := map[key]*site.Site{}
	for _, s := range p.Table.Sites {
		sites[key{s.Function, s.File, s.Line}] = s
	}
	var order []*rule.Match
	found := map[key]*rule.Match{}
	of := func(r *site.Row) *rule.Match {
		i := at(r)
		if i < 0 {
			return &rule.Match{} // nobody's
		}
		f := r.Stack[i]
		k := key{f.Function, f.File, f.Line}
		m := found[k]
		if m == nil {
			m = &rule.Match{Site: sites[k]}
			if m.Site == nil {
				m.Site = &site.Site{Frame: *f, Entry: entry(r, i)}
			}
			found[k] = m
			order = append(order, m)
		}
		return m
	}
	p.EachRow(func(r *site.Row) { m := of(r); m.CPU = append(m.CPU, r) })
	for _, s := range p.Table.Sites {
		for _, r := range s.Allocs {
			m := of(r)
			m.Allocs = append(m.Allocs, r)
		}
	}
	return order
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

// decide decides about one match by the source around it.
func decide(p *rule.Pass, m *rule.Match, guilty func(*gocode.Place, *rule.Match) bool, unseen *Words) bool {
	m.Keep(stacks.Steady)
	if m.Empty() {
		return false
	}
	place := p.Place(m.Site)
	if place == nil {
		if unseen == nil {
			return false
		}
		m.Cause, m.Fix, m.Confidence = unseen.Cause, unseen.Fix, rule.Hint
		return true
	}
	if !guilty(place, m) || m.Empty() {
		return false
	}
	if m.Confidence == "" {
		m.Confidence = evidence.Weigh(p, m.Site, false)
	}
	return true
}

// repeated drops what is live, and reports whether the rows leave open that the line ran often.
func repeated(m *rule.Match) bool {
	m.Live = nil
	m.Keep(stacks.Steady)
	if len(m.Allocs) == 0 {
		return true
	}
	_, objects := stacks.Sum(m.Allocs)
	return objects >= often
}

// Passing returns the rows of the whole table that pass through the line of s in a
// call of one of the named functions (any, when there are none) and are charged to a line below
// it: what its callees in modules cost on its behalf.
func Passing(p *rule.Pass, s *site.Site, keep func(*site.Row) bool, callees ...string) (cpu, allocs []*site.Row) {
	through := func(r *site.Row) bool {
		for i := 1; i < len(r.Stack); i++ {
			f := r.Stack[i]
			if f.Line == s.Line && i > r.Owner && f.Function == s.Function && f.File == s.File {
				return (len(callees) == 0 || funcname.Match(r.Stack[i-1].Function, callees...)) && keep(r)
			}
		}
		return false
	}
	for _, other := range p.Table.Sites {
		if other == s {
			continue
		}
		cpu = append(cpu, stacks.Select(other.CPU, through)...)
		allocs = append(allocs, stacks.Select(other.Allocs, through)...)
	}
	return cpu, allocs
}
