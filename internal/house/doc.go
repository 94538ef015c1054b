// Package house tests that the code follows ARCHITECTURE.md: a package imports only from floors
// below its own, every package is in one of the tables and has a package comment, nothing below
// floor 7 prints, nothing below floor 8 reads flags or the environment, and nothing uses cgo.
//
// The decision that shapes it: the tables that people read are the tables that are tested. There is
// no second list to keep in step: to move a package, change the page. The few exceptions are in the
// test, with their reasons.
package house
