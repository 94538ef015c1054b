// Package history keeps what was measured of each commit in a database, and says when a figure changed.
//
// The database is a SQLite file, or PostgreSQL for a team whose CI machines come and go. One set of statements serves
// both, behind database/sql; statistics are computed in Go, so that both give the same answers. A run (one commit on one
// machine with one toolchain) is written in one transaction with all its samples and files: what [Store.Add] has
// returned for is on disk, what it has not is not there in part. Samples are kept in the order in which they ran, packed to a
// few bytes each ([pack]); files such as profiles are compressed and kept once by their hash, in the database
// itself: a file beside it could be lost without it.
//
// A series is a metric of a benchmark on one machine. Its steps are found within the runs of one toolchain and
// reported where the toolchain changed as well, as what they are.
//
// What the package refuses to do is to compare figures of different machines.
package history
