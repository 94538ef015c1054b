// Package tunegc chooses a setting of the garbage collector for a memory budget: it runs the target
// with GODEBUG=gctrace=1, with a CPU profile and with a trace, predicts CPU and memory of other
// settings from that (package gogc), and measures the chosen setting, its neighbours, and those
// that the user names interleaved with the unchanged target (package experiment).
//
// The decision behind it: gctrace prints when collections happen and what is live, but not what
// they cost. Its CPU times include those of other processes, and a program loses more while the
// collector marks than the collector's own time. The profile and the trace show both.
//
// The output shows each prediction beside its measurement, and recommends only settings that were
// measured.
package tunegc
