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

// Judge is the walk that most rules share. It asks take for the rows of each
// site, drops what runs once (see [Steady]) and what is live (that was kept, not
// made in vain), and asks guilty with the syntax around the line; guilty fills in the words. A site without source becomes a
// hint with the words of unseen, or nothing when unseen is nil.
func (p *Pass) Judge(take func(*site.Site) Match, guilty func(*gocode.Place, *Match) bool, unseen *Words) []Match {
	var matches []Match
	for _, s := range p.Table.Sites {
		if m := take(s); p.judge(&m, guilty, unseen) {
			matches = append(matches, m)
		}
	}
	return matches
}

// judge decides about one match and completes it.
func (p *Pass) judge(m *Match, guilty func(*gocode.Place, *Match) bool, unseen *Words) bool {
	m.keep(Steady)
	m.Live = nil
	if m.Empty() || m.rare() {
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
	if !guilty(place, m) {
		return false
	}
	if m.Confidence == "" {
		m.Confidence = p.Weigh(m.Site, false)
	}
	m.Evidence = append(m.Evidence, p.Compiler(m.Site)...)
	return true
}

// keep drops the rows for which want does not hold.
func (m *Match) keep(want func(*site.Row) bool) {
	for _, rows := range []*[]*site.Row{&m.CPU, &m.Allocs, &m.Mutex, &m.Block, &m.Live} {
		*rows = Rows(*rows, want)
	}
}

// rare tells whether the rows show that the line ran a few times only.
func (m *Match) rare() bool {
	if len(m.Allocs) == 0 {
		return false
	}
	_, objects := Sum(m.Allocs)
	return objects < often
}

// Steady tells whether a row is of code that may run any number of times: not from a
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
