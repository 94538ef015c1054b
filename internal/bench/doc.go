// Package bench measures Go benchmarks so that the figures can be believed: a process for each sample, the variants in
// turns (package trial), binaries of several link layouts, wall and CPU time of the timed region, and a verdict per metric.
//
// The decisions that shape it: ten values of one process are one sample, for they share one heap, one address layout and
// one moment of the machine; so each process runs one benchmark once and gives one value. The number of iterations is found
// once and then fixed, the same on both sides, so that allocations are comparable to the digit. CPU time is read around the
// timed region by a copy of package testing's timer in the build overlay: no benchmark is edited. A change must be seen
// again in a second set of runs before it is called one.
//
// What the package refuses to do is to judge by the fastest value, or by values of runs that were not in turns.
package bench
