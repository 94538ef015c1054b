// Package parallelism says how many processors a program kept busy, and what
// kept the others idle: serial sections with their lines, the tail of parallel regions in
// which workers run out of work one by one, and goroutines that were ready and waited.
//
// A stretch is serial when exactly one goroutine of the program runs, none is ready, and the
// program may use more processors than one. The time goes to the line at which
// that goroutine stopped: code that runs leaves no trace, but the scheduler
// interrupts it every 10 ms, so long stretches are sampled by their own end. CPU
// samples in the trace, when there are any, say it more exactly and are counted apart.
package parallelism
