// Package runtimework says what the Go runtime did for a program (garbage collection,
// allocation, copying, maps, locks, scheduling, system calls) and for which of its lines.
//
// It decides by the names of functions, as of Go 1.23 to 1.26. What its tables do not
// know is counted as other work of the runtime, never as the program's.
package runtimework
