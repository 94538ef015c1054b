// Package tunegc chooses a setting of the garbage collector for a memory budget: it runs the target
// once with GODEBUG=gctrace=1, predicts CPU and memory of other settings from that (package gogc),
// and measures the chosen setting and its neighbours interleaved with the unchanged target (package
// experiment).
//
// The output shows each prediction beside its measurement, and recommends only settings that were
// measured.
package tunegc
