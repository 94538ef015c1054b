// Package window answers questions about an interval of a trace without reading the rest of it.
//
// One decision shapes it: a trace is read in full once, for an index whose size does not grow with
// the number of events. The index holds where each generation starts, which goroutines wait at that
// time, sums by stack for each generation, and curves of a fixed number of columns. A short
// interval is then read again from the file, in whole generations, so it is exact to the
// nanosecond. A long one is computed from the curves and the sums, and only its two ends are read.
// Either way the answer takes the time of a few generations.
//
// It does not guess: what a goroutine waited for is known from the index, not from the interval. If
// the index had no room for that, the stack says so.
package window
