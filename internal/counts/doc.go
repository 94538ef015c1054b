// Package counts answers how often code ran: executions of a line, and calls of a function, for
// each unit of work (a request, an operation of a benchmark, a run of a program).
//
// The counts are exact numbers from a build with counters (package covdata), not samples. They come
// from separate processes, under the same load as the profiles but at another time, so they are
// given per unit of work. Consecutive windows show whether a count grows while the program runs.
//
// It does not guess: a line without a counted block has no result.
package counts
