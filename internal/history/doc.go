// Package history stores results per commit in a database and finds where a figure changed.
//
// The database is a SQLite file, or PostgreSQL for a team whose CI machines come and go. The same
// statements run on both, behind database/sql, and statistics are computed in Go, so both give the
// same answers. A run (one commit on one machine with one toolchain) is written in one transaction
// with all its samples and files: once [Store.Add] has returned, the run is on disk; until then no
// part of it is. Samples are kept in the order in which they ran, packed to a few bytes each
// ([pack]). Files such as profiles are compressed and stored once by their hash, in the database
// itself, because a file beside it could be lost without it.
//
// A series is a metric of a benchmark on one machine. Steps are searched within the runs of one
// toolchain; a step between toolchains is reported as a change of the toolchain.
//
// The package never compares figures of different machines.
package history
