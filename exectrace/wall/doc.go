// Package wall accounts for the wall-clock time of goroutines: how long each ran, was ready and
// waited for a processor, was blocked and on what, and was in system calls, by line and by who woke
// it.
//
// One fold builds one table of intervals, and every view is a sum over its rows: the goroutines by
// the function that they were started with, the off-CPU profile by waiter and by waker, locks,
// hand-offs over channels, polling by sleep, system calls, scheduling latency. All views together
// therefore cost what one does, and they agree.
//
// Each nanosecond of each goroutine is in one row: the rows of a goroutine add up to its lifetime
// in the trace, including waits that are still open at its end. A goroutine that is older than the
// trace counts from the trace's start.
package wall
