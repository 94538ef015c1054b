// Package report computes pprof's reports over a profile: top, tree and graph, list,
// flame graph, stacks, traces, tags.
//
// One decision shapes it: a report is a plain struct of numbers, and its options are
// pprof's, under pprof's names ([Options]). A [View] applies the options that choose
// samples and frames; what is left says how the report shows them. So every report
// of one view agrees on what it is about, and each is checked against `go tool pprof`.
//
// It draws nothing, reads no source files and prints only what another program reads
// (callgrind).
package report
