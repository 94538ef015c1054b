// Package site joins profiles and code facts into sites, the source lines that own a program's
// costs, and prices garbage collection by site.
//
// The decision that shapes it: a cost is charged once, to a line that a developer can change. The
// leaf of a Go stack is nearly always in the runtime or the standard library. A row of a profile is
// therefore charged to its first frame, from the leaf, outside of them. When that frame is a
// dependency's, the site also names the line of the main module that calls it. Rows without such a
// frame go to named buckets (the scheduler, the collector, connection handling). What the
// measurement itself costs is taken out and reported.
//
// Garbage collection is charged by bytes. A collection starts after a number of allocated bytes,
// whatever they hold, and its work depends on what is live, not on what was thrown away. So the
// number of collections that a line causes is its share of the allocated bytes. For a site s over a
// CPU profile and an allocation profile of the same window
//
//	cost(s) = CPU(s) + b(s) × (D + A + W + I)
//
// where CPU(s) includes the time in malloc (M) but no mark assists, and b(s) is the share of bytes.
// D is the time of dedicated and fractional mark workers. A is the time of all assists; which
// goroutine pays them is chance. W is sweeping, scavenging and the start and end of cycles. I is
// marking by idle processors: work that they do not do falls to others, and the process's CPU time,
// by which a fix is measured, includes it. I is also reported as a bucket of its own, because in a
// half-idle process it takes nothing from the program. Write barriers, cache misses and page faults
// of fresh memory are not covered, so for large buffers the price is a lower bound. TestAblation
// compares the formula with programs from which the allocations were removed.
//
// The table answers two more questions: Joined reports which share of samples and bytes was charged
// to a line or a named bucket, and About what passes through one place.
//
// The package does not charge contention as CPU: waiting is latency, so a site's seconds of waiting
// are kept beside its CPU seconds, never in them. It does not guess either: without an allocation
// profile nothing is charged for collection, and the interval shows it.
package site
