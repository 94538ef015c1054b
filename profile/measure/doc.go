// Package measure converts and prints values with pprof's units, as `go tool pprof` does.
//
// It is for tables that are compared with pprof's. Values in units that it does not know are not
// converted.
package measure
