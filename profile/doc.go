// Package profile reads, merges, filters, aggregates and writes pprof profiles
// held as columns over interned tables.
package profile
