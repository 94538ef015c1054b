// Package profile holds pprof profiles as columns: it decodes, merges, subtracts,
// filters and encodes them. Package report below it computes what pprof prints of them.
//
// One decision shapes it: a profile is columns, not objects. Functions,
// locations and mappings are tables; a sample is a row: a run of location
// indices in one shared int32 column, one int64 in each value column, and the
// number of its label set. There is no heap object per sample, so a profile of
// a million stacks costs little more memory than its inflated file, a merge is
// a renumbering, and a report is a scan that touches only the columns it prints.
//
// The package decodes the protobuf format of google/pprof (proto/profile.proto
// there), plain, gzip'd or zstd'd, while it inflates: the inflated file is never
// held as a whole. Input is not trusted. Its size is bounded, every index is
// checked, memory stays within a small factor of the inflated input, and errors
// name the field and the byte offset.
//
// Profiles that come as text are for the package textual below.
//
// It refuses to guess: what the format does not say is absent. It reads no
// source files, symbolises nothing, knows no terminal and prints nothing.
// A Profile is immutable once built, so goroutines may share one; the functions
// that change something return a new Profile that shares what stayed the same.
package profile
