// Package site joins profiles and code facts into sites, the lines that own a
// program's costs, and prices garbage collection by site.
//
// The decision behind it: a cost is charged once, to a line that somebody can
// change. The leaf of a Go stack is nearly always in the runtime or the standard
// library, so a row of a profile is charged to its first frame, from the leaf,
// outside of them; when that frame is a dependency's, the site also names the
// line of the main module that leads there. Rows without such a frame go to
// named buckets (the scheduler, the collector, connection handling), and what
// the measurement itself costs is taken out and told.
//
// Garbage collection is charged by bytes. A collection starts after so many more
// bytes, whatever they hold, and its work depends on what is live, not on what
// was thrown away; so the number of collections that a line causes is its share of allocated bytes. For
// a site s over a CPU profile and an allocation profile of the same window
//
//	cost(s) = CPU(s) + b(s) × (D + A + W + I)
//
// where CPU(s) holds the time in malloc (M) but no mark assists, b(s) is the
// share of bytes, D the dedicated and fractional mark workers, A all assists
// (which goroutine pays them is chance), W sweeping, scavenging and the
// start and end of cycles, and I marking by processors that were idle: what they do not mark
// others must, and the process's CPU time, by which a repair is measured, holds it all. It is told apart as a
// bucket, for in a half-idle process it takes nothing from the program. Write barriers, cache misses and page faults of
// fresh memory are not covered, so for large buffers the price is a lower bound.
// TestAblation measures the rule against programs without the allocations.
//
// Two questions are answered from the table besides: Joined says which share of samples and bytes ended at
// somebody's line or in a named bucket, About what goes through one place.
//
// The package refuses to charge contention as CPU: waiting is latency, and its
// seconds stand beside the CPU seconds of a site, never in them. It also refuses
// to guess: without an allocation profile nothing is charged for collection, and
// the interval says so.
package site
