// Package session is the loop as one call: record a target, join what was
// recorded with the code, diagnose it. `hone run`, `hone findings` and the demo
// are these calls with a page drawn around them.
//
// The decision that shapes it: a recording on disk stands between the two
// halves. Diagnose never sees the program, only the file, so that a diagnosis
// can be made again later, elsewhere, by a newer hone.
package session
