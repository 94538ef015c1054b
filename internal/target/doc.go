// Package target builds, starts, attaches to, watches and stops the program under
// measurement, and holds the probe that a build overlay adds to it.
//
// The decision that shapes it: the program is the user's. Their tree, go.mod and
// go.sum stay byte for byte; the probe is a file that exists only in the overlay of
// one build, it does nothing unless hone starts the program, and it adds neither net
// nor net/http/pprof to it. A service that hone did not build is taken through the
// pprof endpoints that it already has. Both are a [Program], and what a program does
// not offer is a [Missing] that says how to get it: never a zero, never an empty
// profile.
//
// What the package refuses to do: to touch a program's source, to leave a process
// behind (the target leads a process group of its own, which ends with hone), and to
// give results of a program that did not give them.
//
// Limits to know about. Work done while packages other than main are initialised is
// not covered by what the probe collects. A panic, an unhandled signal, syscall.Exit
// and exec lose what was collected: [Process.Parts] says so. While hone listens, the
// runtime of the target does not detect a deadlock, because a goroutine of the probe
// waits in the network poller. A program that imports no runtime/pprof of its own
// keeps a heap profile only because of the probe: without it the linker would leave
// the sampling of allocations out. The go command's coverage mode cannot read a file
// that exists only in an overlay, so that what users build with -cover has no probe; hone's own
// builds with counters (BuildSpec.Counted) have it in a package of the standard library.
package target
