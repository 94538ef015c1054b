// Package compare compares two results and gives each metric a verdict: better, worse, same, or unknown.
//
// The decisions that shape it: recordings are the samples, not the windows in a recording, which resemble each other. How much
// recordings differ beyond their windows is measured if there are several a side; otherwise it is assumed from other
// machines (noise.go), more where other processes kept the machine busy. At most 1 in 40 comparisons of a program with itself gets
// a verdict of better or worse. "Same" means that the whole interval lies within the tolerance. Figures that are the same in
// every process are compared exactly.
//
// The package refuses to compare recordings that do not measure the same (another program, other arguments, another load)
// unless it is forced to, and it does not judge latencies that the load generator limited.
//
// Profiles are compared row by row ([Differ]), hundreds of rows at a time. "Moved" there means that at most 1 in 40 of all rows
// called so is chance, no matter how many rows there are.
package compare
