// Package cli is hone's command line: one file per command, each of which turns flags into one call
// of a lower floor and passes the result to render.
//
// A command is a value (name, help, flags, run) that is created for each invocation and gets its
// environment (streams, variables, terminal) in an Env. So there is no global state, tests run
// commands in process, and help, completion and the README's list come from one table.
//
// The package computes nothing: measuring, joining and judging happen on lower floors.
package cli
