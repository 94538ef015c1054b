package finder

import (
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
)

// Take returns a match of the rows of s for which keep holds.
func Take(s *site.Site, keep func(*site.Row) bool, callees ...string) rule.Match {
	return rule.Match{
		Site:    s,
		CPU:     stacks.Select(s.CPU, keep),
		Allocs:  stacks.Select(s.Allocs, keep),
		Mutex:   stacks.Select(s.Mutex, keep),
		Block:   stacks.Select(s.Block, keep),
		Live:    stacks.Select(s.Live, keep),
		Callees: callees,
	}
}

// TakeCalls returns a match of the rows in which the line of s called one of
// the named functions.
func TakeCalls(s *site.Site, callees ...string) rule.Match {
	return Take(s, func(r *site.Row) bool { return stacks.Calls(r, callees...) }, callees...)
}

// TakeCallsAndOwn returns what [TakeCalls] does, and what the line allocates without a call
// (see [stacks.Leaf]).
func TakeCallsAndOwn(s *site.Site, callees ...string) rule.Match {
	m := TakeCalls(s, callees...)
	m.Allocs = append(m.Allocs, stacks.Select(s.Allocs, stacks.Leaf)...)
	m.Live = append(m.Live, stacks.Select(s.Live, stacks.Leaf)...)
	return m
}

// TakeOwn returns a match of what the line of s allocates without a call: the
// leaf rows of the allocation profile, and the CPU rows in which the line called the
// allocator itself.
func TakeOwn(s *site.Site) rule.Match {
	m := Take(s, func(r *site.Row) bool { return false })
	m.CPU = stacks.Select(s.CPU, func(r *site.Row) bool {
		return strings.HasPrefix(stacks.Callee(r), "runtime.") && (r.Class == site.Malloc || r.Class == site.Assist || copies(r))
	})
	m.Allocs = stacks.Select(s.Allocs, stacks.Leaf)
	m.Live = stacks.Select(s.Live, stacks.Leaf)
	return m
}

// copies reports whether a row is in one of the runtime's functions that allocate and fill.
func copies(r *site.Row) bool {
	return stacks.Calls(r, "runtime.convT*", "runtime.growslice*", "runtime.makeslice*", "runtime.makemap*",
		"runtime.concatstring*", "runtime.slicebytetostring*", "runtime.stringtoslicebyte*")
}
