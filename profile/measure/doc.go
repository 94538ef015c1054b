// Package measure converts and prints values with pprof's units, as `go tool pprof` does.
//
// It is for tables that are compared with pprof's; units of no known kind stay as they are.
package measure
