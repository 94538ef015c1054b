// Package house tests that the code keeps to ARCHITECTURE.md: a package
// imports only floors below its own, every package is in the table of floors
// and has a package comment, nothing below floor 7 prints, nothing below floor 8
// reads flags or the environment, and nothing uses cgo.
//
// The decision that shapes it: the table that people read is the table that is
// tested. There is no second list to keep in step; who moves a wall changes the
// page, and the few exceptions stand in the test with their reasons.
package house
