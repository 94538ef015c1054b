// Package exectrace reads Go execution traces (format v2, Go 1.22 and later) in memory that does
// not grow with their length, and passes their events, in the order in which they happened, to
// folds.
//
// The one decision that shapes it: nothing is kept. A trace is read generation by generation (about
// a second each). While the events of one are put into order, the next one is read. An analysis is
// a [Fold] that takes events in blocks as they come and adds up. An event has all that a sum needs:
// the state that a goroutine leaves, since when and why it was in it, and the state that it enters.
// A trace of hours therefore costs the memory of a few seconds, and an analysis costs one loop.
//
// The order is that of the scheduler, not that of the clocks. The tracer numbers the transitions of
// goroutines and processors. Threads are merged by those numbers, and by time only where the
// numbers allow several orders. The rules are Go's own (internal/trace, order.go). Times are those
// that golang.org/x/exp/trace computes, relative to the first event. The trace's clock ticks every
// 64 ns on most systems; an event that is not later than the previous one is put one nanosecond
// after it, so that times give the order.
//
// It does not read the formats before Go 1.22, which need the whole file in memory. It does not
// guess: a generation that violates a rule ends there, and the states that were open are forgotten
// (Gap).
//
// A stack has one number in the whole trace, so that sums can be kept by [StackID]. Words that
// occur once (the messages of logs) are available only during their block.
package exectrace
