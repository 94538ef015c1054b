// Package window answers questions about a stretch of a trace without reading the rest of it.
//
// One decision shapes it: a trace is read in full once, for an index, and what is kept of it does not
// grow with its events. The index holds where each generation begins, what waits at that time, sums by stack for
// each generation, and curves of a fixed number of columns. A short stretch is then read again from the
// file, whole generations at a time, so it is exact to the nanosecond; a long one comes from the curves
// and the sums, with its two ends read. Either way the answer takes the time of a few generations.
//
// It refuses to guess: what a goroutine waited for is known from the index, not from the stretch, and where
// the index had no room for that, the stack says so.
package window
