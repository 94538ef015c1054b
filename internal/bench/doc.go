// Package bench measures Go benchmarks, one process per run, and compares two versions of the code.
//
// Its main decisions:
//
//   - A process is one sample. Ten values from one process share a heap, an address layout and the
//     state of the machine at that moment, so they count as one.
//   - The runs of both sides are interleaved (package trial). Their number of iterations is chosen
//     once and then fixed, so that allocations can be compared exactly.
//   - Each side is linked in several layouts. A change anywhere in a package moves the functions
//     after it, and that alone can slow a loop down by a few percent, so a change must stand out
//     from the scatter between layouts ([Judge]).
//   - A change is reported only if a second set of runs, with other layouts, shows it again.
//   - CPU time is read around the timed region by a copy of package testing's timer in the build
//     overlay. No benchmark is edited.
//
// The package does not judge by the fastest value, and does not count values of one process as
// several samples.
package bench
