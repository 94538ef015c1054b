package finder

import (
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// often is the minimum number of objects that a line must have allocated for a rule about repeated
// work.
const often = 16

// Through returns the CPU rows in which a line of the main module or a dependency calls one of the
// named functions, whichever line they are charged to: below a library that calls back
// (database/sql and its drivers, sort and its comparisons) that is another line. Each match has one
// line, nearest the leaf; a line without costs of its own gets an empty site.
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

// caller returns the index of the module's leafmost frame that calls one of the functions, or -1.
func caller(r *site.Row, functions []string) int {
	for i := 1; i < len(r.Stack); i++ {
		kind := r.Stack[i].Owner.Kind
		if (kind == gocode.Main || kind == gocode.Dependency) && funcname.Match(r.Stack[i-1].Function, functions...) {
			return i
		}
	}
	return -1
}

// gather returns a match for each line that at selects, with the rows of CPU and allocations for
// which it selects the line.
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
			return &rule.Match{} // owned by no line
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

// entry returns the main module's line that calls the frame i of a row, directly or not.
func entry(r *site.Row, i int) *site.Frame {
	for _, f := range r.Stack[i:] {
		if f.Owner.Kind == gocode.Main {
			return f
		}
	}
	return nil
}

// repeated drops live memory and rows of code that runs once, and reports whether the line may have
// run often, by its rows. at returns the index of the line's frame in a row.
func repeated(m *rule.Match, at func(*site.Row) int) bool {
	m.Live = nil
	m.Keep(func(r *site.Row) bool { return stacks.SteadyFrom(r, at(r)) })
	if len(m.Allocs) == 0 {
		return true
	}
	_, objects := stacks.Sum(m.Allocs)
	return objects >= often
}

// Passing returns the rows of the whole table that pass through the line of s in a call of one of
// the named functions (any, when there are none) and are charged to a line below it: the cost of
// its callees in modules on its behalf.
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
