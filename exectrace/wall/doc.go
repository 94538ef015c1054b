// Package wall accounts for the wall-clock time of goroutines: how long each
// ran, was ready and waited for a processor, was blocked and for what, and sat in
// system calls, by where it was and by who woke it.
//
// One fold builds one table, of intervals by what they were, and every view is a
// sum over its rows: the goroutines by the function they were started with, the off-CPU
// profile by waiter and by waker, locks, hand-offs over channels, polling by sleep, system
// calls, the latency of the scheduler. So all views together cost what one does, and they agree.
//
// Each nanosecond of each goroutine is in one row: the rows of a goroutine add up to
// its lifetime in the trace, waits that are still open at its end included. A goroutine that
// the trace found when it began counts from there.
package wall
