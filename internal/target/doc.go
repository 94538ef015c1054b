// Package target builds, starts, attaches to, watches and stops the program under measurement, and
// holds the probe that a build overlay adds to it.
//
// The decision that shapes it: the program is the user's. Their tree, go.mod and go.sum stay byte
// for byte. The probe is a file that exists only in the overlay of one build. It does nothing
// unless hone starts the program, and it adds neither net nor net/http/pprof to it. A service that
// hone did not build is profiled through the pprof endpoints that it already has. Both are a
// [Program]. What a program does not offer is a [Missing] that says how to get it: never a zero,
// never an empty profile.
//
// The package never edits a program's source, never leaves a process behind (the target leads a
// process group of its own, which ends with hone), and never reports results that the program did
// not deliver.
//
// Limits. Work done while packages other than main are initialised is not covered by what the probe
// collects. A panic, an unhandled signal, syscall.Exit and exec lose what was collected:
// [Process.Parts] reports that. While hone listens, the runtime of the target does not detect a
// deadlock, because a goroutine of the probe waits in the network poller. A program that does not
// import runtime/pprof itself has a heap profile only because of the probe: without it the linker
// would leave out the sampling of allocations. The go command's coverage mode cannot read a file
// that exists only in an overlay, so programs that users build with -cover have no probe; hone's
// own builds with counters (BuildSpec.Counted) have it in a package of the standard library.
package target
