// Package session is the loop in one call: record a target, join the recording with the code,
// diagnose it. `hone run`, `hone findings` and the demo call it and print the result.
//
// The decision that shapes it: the two halves only share a recording on disk. Diagnose never sees
// the program, only the file, so that a recording can be diagnosed again later, elsewhere, by a
// newer hone.
package session
