// Package pprofdriver runs google/pprof's own driver in tests, which compare hone's reports with
// what it prints. Nothing but tests imports this package.
package pprofdriver
