// Package textual reads profiles that come as text.
//
// It knows Go's debug=1 text (heap, allocs, goroutine, threadcreate, block,
// mutex), Go's goroutine dumps (debug=2, and what a crash or SIGQUIT prints),
// folded stacks, and the output of `perf script`.
//
// One decision shapes it: the content of a text decides its format, never a file name or a content
// type. Each format is a file with a function that recognises its first lines and one that reads
// the rest; formats.go lists them. All of them produce a profile.Profile, so reports do not depend
// on the source of a profile.
//
// It does not guess. Addresses that the text does not name remain addresses, and a line that does
// not fit the format is an error with its line number. The arguments of calls in a dump, which are
// mostly garbage and sometimes secrets, are dropped. Formats of C++ and Java profilers that share a
// prefix with Go's are not read.
//
// Input is not trusted: its size, the length of its lines and the depth of its stacks are bounded.
package textual
