// Package textual reads profiles that come as text.
//
// It knows Go's debug=1 text (heap, allocs, goroutine, threadcreate, block,
// mutex), Go's goroutine dumps (debug=2, and what a crash or SIGQUIT prints),
// folded stacks, and the output of `perf script`.
//
// One decision shapes it: what the text is, its content says, never a file
// name or a content type. Each format is a file with a function that recognises
// its first lines and one that reads the rest; formats.go lists them. All of
// them end in a profile.Profile, so that no report knows where a profile came from.
//
// It refuses to guess. Addresses that the text does not name stay addresses, a
// line that does not fit is an error with its number, and the arguments of calls
// in a dump, which are mostly garbage and sometimes secrets, are dropped.
// Formats of C++ and Java profilers that share a prefix with Go's are not read.
//
// Input is not trusted: its size, its lines and the depth of its stacks are bounded.
package textual
