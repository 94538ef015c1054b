// Package compare compares two results and gives each metric a verdict: better, worse, same, or
// unknown.
//
// Its main decisions: a recording is one sample; the windows within it resemble each other too
// much. How much recordings differ beyond their windows is measured if there are several per side.
// Otherwise it is assumed from measurements on other machines (noise.go), and assumed larger if
// other processes kept the machine busy. At most 1 in 40 comparisons of a program with itself gets
// the verdict better or worse. "Same" means that the whole interval lies within the tolerance.
// Figures that are the same in every process are compared exactly.
//
// The package refuses to compare recordings that do not measure the same (another program, other
// arguments, another load) unless it is forced to, and it gives no verdict on latencies if the load
// generator was the limit.
//
// Profiles are compared row by row ([Differ]), hundreds of rows at a time. There, "moved" means
// that at most 1 in 40 of the rows that are reported as moved are chance, however many rows there
// are.
package compare
