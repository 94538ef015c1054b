package rule

import (
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// often is the number of objects that a line must have made at least before a
// rule about work done again and again speaks of it.
const often = 16

// Words say what a match is about.
type Words struct{ Cause, Fix string }

// Judge is the walk that rules about what a line makes share. It asks take for the rows of each
// site, drops what runs once (see [Steady]), lines that made a few objects only, and what is live (that
// was kept, not made in vain), and asks guilty with the syntax around the line; guilty fills in the words. A
// site without source becomes a hint with the words of unseen, or nothing when unseen is nil.
// For lines of which the calls alone tell, see [Search].
func (p *Pass) Judge(take func(*site.Site) Match, guilty func(*gocode.Place, *Match) bool, unseen *Words) []Match {
	var matches []Match
	for _, s := range p.Table.Sites {
		m := take(s)
		if m.again() && p.judge(&m, guilty, unseen) {
			m.Evidence = append(m.Evidence, p.Compiler(m.Site)...)
			matches = append(matches, m)
		}
	}
	return matches
}

// Gather is [Pass.Judge] for calls into other modules, whose rows are charged to lines of
// those modules: at says which frame of a row called (its index in the stack, -1
// for a row of no interest), and the rows of all sites with that frame are one match. A line
// that owns no row itself becomes a site without rows.
func (p *Pass) Gather(at func(*site.Row) int, guilty func(*gocode.Place, *Match) bool, unseen *Words) []Match {
	var matches []Match
	for _, m := range p.gather(at) {
		if m.again() && p.judge(m, guilty, unseen) {
			m.Evidence = append(m.Evidence, p.Compiler(m.Site)...)
			matches = append(matches, *m)
		}
	}
	return matches
}

// Through gathers the CPU rows in which a line of the main module or a dependency calls one of the
// named functions, whoever is blamed for them: below a library that calls back
// (database/sql and its drivers, sort and its comparisons) that is somebody else's line. Each
// match has one line, nearest the leaf; a line without costs of its own gets a site that holds nothing.
func (p *Pass) Through(functions ...string) []Match {
	var matches []Match
	for _, m := range p.gather(func(r *site.Row) int { return caller(r, functions) }) {
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
		if (kind == gocode.Main || kind == gocode.Dependency) && Named(r.Stack[i-1].Function, functions...) {
			return i
		}
	}
	return -1
}

// gather makes a match for each line that at picks, of the rows of CPU and allocations that it picks it for.
func (p *Pass) gather(at func(*site.Row) int) []*Match {
	type key struct {
		function, file string
		line           int
	}
	sites := map[key]*site.Site{}
	for _, s := range p.Table.Sites {
		sites[key{s.Function, s.File, s.Line}] = s
	}
	var order []*Match
	found := map[key]*Match{}
	of := func(r *site.Row) *Match {
		i := at(r)
		if i < 0 {
			return &Match{} // nobody's
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

// judge decides about one match by the source around it.
func (p *Pass) judge(m *Match, guilty func(*gocode.Place, *Match) bool, unseen *Words) bool {
	m.keep(Steady)
	if m.Empty() {
		return false
	}
	place := p.Place(m.Site)
	if place == nil {
		if unseen == nil {
			return false
		}
		m.Cause, m.Fix, m.Confidence = unseen.Cause, unseen.Fix, Hint
		return true
	}
	if !guilty(place, m) || m.Empty() {
		return false
	}
	if m.Confidence == "" {
		m.Confidence = p.Weigh(m.Site, false)
	}
	return true
}

// again drops what is live, and reports whether the rows leave open that the line ran often.
func (m *Match) again() bool {
	m.Live = nil
	m.keep(Steady)
	if len(m.Allocs) == 0 {
		return true
	}
	_, objects := Sum(m.Allocs)
	return objects >= often
}

// keep drops the rows for which want does not hold.
func (m *Match) keep(want func(*site.Row) bool) {
	for _, rows := range []*[]*site.Row{&m.CPU, &m.Allocs, &m.Mutex, &m.Block, &m.Live} {
		*rows = Rows(*rows, want)
	}
}

// Steady reports whether a row is of code that may run any number of times: not from a
// package's initialisation, not under a sync.Once, and not filling a sync.Pool,
// whose misses are a matter of their own.
func Steady(r *site.Row) bool {
	if Initial(r) {
		return false
	}
	for _, f := range r.Stack[max(r.Owner, 0):] {
		if Named(f.Function, "sync.(*Once).*", "sync.OnceFunc*", "sync.OnceValue*", "sync.(*Pool).Get") {
			return false
		}
	}
	return true
}

// EachRow calls visit for every CPU row of the table, of sites and of buckets.
func (p *Pass) EachRow(visit func(*site.Row)) {
	for _, s := range p.Table.Sites {
		for _, r := range s.CPU {
			visit(r)
		}
	}
	for _, b := range p.Table.Buckets {
		for _, r := range b.Rows {
			visit(r)
		}
	}
}

// Passing returns the rows of the whole table that pass through the line of s in a
// call of one of the named functions (any, when there are none) and are charged to a line below
// it: what its callees in modules cost on its behalf.
func (p *Pass) Passing(s *site.Site, keep func(*site.Row) bool, callees ...string) (cpu, allocs []*site.Row) {
	through := func(r *site.Row) bool {
		for i := 1; i < len(r.Stack); i++ {
			f := r.Stack[i]
			if f.Line == s.Line && i > r.Owner && f.Function == s.Function && f.File == s.File {
				return (len(callees) == 0 || Named(r.Stack[i-1].Function, callees...)) && keep(r)
			}
		}
		return false
	}
	for _, other := range p.Table.Sites {
		if other == s {
			continue
		}
		cpu = append(cpu, Rows(other.CPU, through)...)
		allocs = append(allocs, Rows(other.Allocs, through)...)
	}
	return cpu, allocs
}
