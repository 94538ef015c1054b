// Package tunegc chooses a setting of the collector for a memory budget: it runs the target once with the runtime printing its
// collections, predicts CPU and memory of other settings from that (package gogc), and measures the choice
// and its neighbours in turns with the target as it is (package experiment).
//
// A prediction is shown beside what was measured; what was not measured is not advised.
package tunegc
