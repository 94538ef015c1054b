// Package capture records a target: it builds and starts it (or attaches to it), drives it with
// load, and takes profiles in phases, one kind of observation at a time.
//
// The decision that shapes it: every phase runs under the same load and is cut into windows of
// about a second, including the clean phase, in which nothing is observed. So each phase's figures
// have a spread, and the overhead of a phase is measured against the clean phase instead of
// assumed. A program that exits is run again for every phase, and a run takes the place of a
// window. A benchmark is such a program.
//
// When a part is not available, the recording states the reason and the way to get it, and the next
// phase goes on. Only three events end a recording early: the target exited, the load ended, the
// caller's context ended. Even then the recording stays readable, raised profile rates are
// restored, and the target that hone started is stopped.
//
// The package does not interpret what it records. Its one judgement is whether a trial of GOGC is
// worth the time, for which it asks package gogc. It prints nothing; callers receive Events.
package capture
