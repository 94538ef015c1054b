// Package bench measures Go benchmarks, each run in a process of its own, and compares two versions of the code.
//
// The decisions that shape it:
//
//   - A process is one sample. Ten values from one process share a heap, an address layout and a moment of the machine, so they
//     count as one.
//   - The runs of both sides are interleaved (package trial), with the same number of iterations, found once and then fixed, so
//     that allocations can be compared exactly.
//   - Each side is linked in several layouts. A change anywhere in a package moves the functions after it, and that alone may
//     cost a loop a few percent, so a change must stand out from the scatter between layouts ([Judge]).
//   - A change is reported only if a second set of runs, with other layouts, shows it again.
//   - CPU time is read around the timed region by a copy of package testing's timer in the build overlay. No benchmark is edited.
//
// The package does not judge by the fastest value, and it does not call values of one process a sample of several.
package bench
