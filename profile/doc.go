// Package profile holds pprof profiles as columns: it decodes, merges, subtracts, filters and
// encodes them. Package report below it computes pprof's reports.
//
// One decision shapes it: a profile is columns, not objects. Functions,
// locations and mappings are tables; a sample is a row: a run of location
// indices in one shared int32 column, one int64 in each value column, and the
// number of its label set. There is no heap object per sample, so a profile of
// a million stacks costs little more memory than its inflated file, a merge is
// a renumbering, and a report is a scan that touches only the columns it prints.
//
// The package decodes the protobuf format of google/pprof (proto/profile.proto there), which may be
// compressed with gzip or zstd. It decodes while it decompresses: the decompressed file is never in
// memory as a whole. Input is not trusted. Its size is bounded, every index is checked, memory is
// limited to a small multiple of the decompressed input, and errors name the field and the byte
// offset.
//
// Package textual below it reads profiles that come as text.
//
// The package does not guess: what the format does not say is absent. It does not read source
// files, symbolize, or print. A Profile is immutable once built, so goroutines may share one;
// functions that change something return a new Profile that shares unchanged parts.
package profile
