// Package covdata reads the meta-data and counter files of Go's coverage instrumentation: how
// often each block of a program was executed.
//
// A program built with -cover writes them through package runtime/coverage; `go tool covdata`
// reads the same files. The format is that of Go's internal/coverage (defs.go, version 1, unchanged
// since Go 1.20): a meta-data file lists packages, their functions and the source positions of
// each function's blocks; a counter file has one number for each block of the functions that ran.
//
// The one decision: counts stay beside the blocks that the compiler numbered. What they mean
// (executions of a line, iterations of a loop) is for a reader of the source to say.
package covdata
