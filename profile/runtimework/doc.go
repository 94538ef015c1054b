// Package runtimework says what the Go runtime did for a program (garbage collection, allocation,
// copying, maps, locks, scheduling, system calls) and for which of the program's lines.
//
// It decides by function names, as of Go 1.23 to 1.26. Runtime functions that its tables do not
// name are counted as other work of the runtime, never as the program's.
package runtimework
