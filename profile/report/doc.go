// Package report computes pprof's reports over a profile: top, tree and graph, list,
// flame graph, stacks, traces, tags.
//
// One decision shapes it: a report is a plain struct of numbers, and its options are pprof's, under
// pprof's names ([Options]). A [View] applies the options that choose samples and frames; the
// others say how the report shows them. All reports of one view therefore agree on their subject,
// and a test compares each with `go tool pprof`.
//
// It draws nothing and reads no source files. The only format it prints is one that another program
// reads (callgrind).
package report
