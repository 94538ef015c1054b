// Package covdata reads the meta-data and counter files of Go's coverage instrumentation: how
// often each block of a program was executed.
//
// A program built with -cover writes them through package runtime/coverage; `go tool covdata`
// reads the same files. The format is that of Go's internal/coverage (defs.go, version 1, unchanged
// since Go 1.20): a meta-data file lists packages, their functions and the source positions of
// each function's blocks; a counter file has one number for each block of the functions that ran.
//
// The one decision: counts are given for the blocks that the compiler numbered. A reader of the
// source decides what they mean (executions of a line, iterations of a loop).
package covdata
