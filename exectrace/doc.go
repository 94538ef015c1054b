// Package exectrace reads Go execution traces (format v2, Go 1.22 and later) in
// memory that does not grow with their length, and hands their events, in the order
// in which they happened, to folds.
//
// The one decision: nothing is kept. A trace is read generation by generation (about a
// second each), the next one while the events of one are put into order, and an
// analysis is a [Fold] that takes events as they come, in blocks, and adds up. An event
// says all that a sum needs: what a goroutine leaves, since when and why, and what it
// enters. So a trace of hours costs the memory of a few seconds, and an analysis costs one
// loop.
//
// The order is that of the scheduler, not that of the clocks: the tracer numbers what
// goroutines and processors do, and threads are merged by those numbers, by time only where
// they leave a choice. The rules are Go's own (internal/trace, order.go). Times come out as
// golang.org/x/exp/trace gives them, relative to the first event: the trace's clock ticks
// every 64 ns on most systems, and an event that is not later than the one before it is put one
// nanosecond after it, so that times give the order.
//
// It refuses to read the formats before Go 1.22, which need the whole file in memory, and to
// guess: a generation that breaks a rule ends there, and what was open is forgotten (Gap).
//
// Stacks have one number for the whole trace, so that sums can be kept by [StackID]; words that
// come once (the messages of logs) are there during their block only.
package exectrace
