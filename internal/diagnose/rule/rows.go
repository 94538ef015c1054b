package rule

import (
	"strings"

	"github.com/hone-go/hone/internal/site"
)

// Named reports whether a function's name fits one of the patterns: the exact
// name, or a prefix when the pattern ends in "*" ("runtime.concatstring*").
func Named(function string, patterns ...string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			if strings.HasPrefix(function, prefix) {
				return true
			}
		} else if function == p {
			return true
		}
	}
	return false
}

// Callee returns the function that the blamed line called on the way to the
// leaf; "" when the line itself is the leaf, or the row has no blamed line.
func Callee(r *site.Row) string {
	if r.Owner <= 0 || r.Owner >= len(r.Stack) {
		return ""
	}
	return r.Stack[r.Owner-1].Function
}

// CallsDirectly reports whether the blamed line itself called one of the named functions.
// Deeper frames do not count: they are somebody else's calls.
func CallsDirectly(r *site.Row, patterns ...string) bool {
	callee := Callee(r)
	return callee != "" && Named(callee, patterns...)
}

// Leaf reports whether the blamed line is the leaf of the row. The runtime's own
// frames are missing at the leaf of heap profiles, so that there such a row is
// what the line allocates without a call: concatenation, conversion, make, boxing.
func Leaf(r *site.Row) bool { return r.Owner == 0 }

// Depth is the index in the row's stack, leaf first, of the frame nearest the
// leaf that fits one of the patterns; the blamed frame's index when none does.
func Depth(r *site.Row, patterns []string) int {
	owner := r.Owner
	if owner < 0 {
		owner = len(r.Stack)
	}
	for i := range owner {
		if Named(r.Stack[i].Function, patterns...) {
			return i
		}
	}
	return owner
}

// Take returns a match of the rows of s for which keep holds.
func Take(s *site.Site, keep func(*site.Row) bool, callees ...string) Match {
	return Match{
		Site:    s,
		CPU:     Rows(s.CPU, keep),
		Allocs:  Rows(s.Allocs, keep),
		Mutex:   Rows(s.Mutex, keep),
		Block:   Rows(s.Block, keep),
		Live:    Rows(s.Live, keep),
		Callees: callees,
	}
}

// TakeCalls returns a match of the rows in which the line of s called one of
// the named functions.
func TakeCalls(s *site.Site, callees ...string) Match {
	return Take(s, func(r *site.Row) bool { return CallsDirectly(r, callees...) }, callees...)
}

// TakeMade returns what TakeCalls does, and what the line allocates without a call
// (see [Leaf]).
func TakeMade(s *site.Site, callees ...string) Match {
	m := TakeCalls(s, callees...)
	m.Allocs = append(m.Allocs, Rows(s.Allocs, Leaf)...)
	m.Live = append(m.Live, Rows(s.Live, Leaf)...)
	return m
}

// Rows returns the rows for which keep holds.
func Rows(rows []*site.Row, keep func(*site.Row) bool) []*site.Row {
	var kept []*site.Row
	for _, r := range rows {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Empty reports whether the match holds no row at all.
func (m *Match) Empty() bool {
	return len(m.CPU)+len(m.Allocs)+len(m.Mutex)+len(m.Block)+len(m.Live) == 0
}

// Sum adds up the values and counts of rows.
func Sum(rows []*site.Row) (value, count int64) {
	for _, r := range rows {
		value += r.Value
		count += r.Count
	}
	return value, count
}

// Initial reports whether a row is from a package's initialisation, at the blamed line
// or above it: what runs there runs once.
func Initial(r *site.Row) bool {
	for _, f := range r.Stack[max(r.Owner, 0):] {
		if InitName(f.Function) {
			return true
		}
	}
	return false
}

// InitName reports whether a function is a package's initialisation, by its name
// in a profile: "example.com/app.init", "example.com/app.init.0", "main.init.func1".
func InitName(function string) bool {
	name := function[strings.LastIndexByte(function, '/')+1:]
	parts := strings.Split(name, ".")
	return len(parts) >= 2 && parts[1] == "init"
}

// Reaches returns a question about rows: does the blamed line come to one of the named functions
// through nothing but the packages named by prefixes ("fmt.", "io.")? A buffer in between, which has a
// package of its own, then answers no.
func Reaches(through []string, functions ...string) func(*site.Row) bool {
	return func(r *site.Row) bool {
		for i := r.Owner - 1; i >= 0; i-- {
			name := r.Stack[i].Function
			if Named(name, functions...) {
				return true
			}
			ok := false
			for _, prefix := range through {
				ok = ok || strings.HasPrefix(name, prefix)
			}
			if !ok {
				return false
			}
		}
		return false
	}
}
