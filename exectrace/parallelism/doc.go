// Package parallelism says how many processors a program kept busy, and why the others were idle:
// serial sections with their lines, the tail of parallel regions in which workers run out of work
// one by one, and goroutines that were ready and waited.
//
// Time is serial when exactly one goroutine of the program runs, none is ready, and the program may
// use more than one processor. It is charged to the line at which that goroutine stopped. Running
// code leaves no events, but the scheduler preempts it every 10 ms, so the ends of long serial
// sections sample their lines. CPU samples in the trace, if there are any, are more exact and are
// counted separately.
package parallelism
