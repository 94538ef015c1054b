// Package compare sets results beside each other and gives a verdict per
// metric: better, worse, same, or unknown.
//
// The decisions that shape it: recordings are the samples, not their windows, which are
// alike. What runs differ by beyond their windows is measured where there are several recordings
// a side, and else taken from other machines (noise.go), wider where other processes were busy.
// A verdict means that of comparisons of a program with itself at most 1 in 40 has any.
// "Same" has to be earned: the whole interval lies within the tolerance. What is the same in every process is
// compared exactly.
//
// What the package refuses to do is to compare what does not measure the same (another program, other
// arguments, another load) unless it is told to, and to judge latencies of a load generator that was the limit.
//
// Profiles are compared row by row ([Differ]), hundreds of rows at a time. There, "moved"
// means that of all rows called so at most 1 in 40 is chance, however many were looked at.
package compare
