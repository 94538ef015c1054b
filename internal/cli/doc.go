// Package cli is hone's command line: one file per command, each of which
// turns flags into one call of a lower floor and hands the result to render.
//
// The decision that shapes it: a command is a value (name, help, flags, run),
// made afresh for each invocation and given its surroundings (streams,
// environment, terminal) in an Env. So nothing is global, tests run commands in
// process, and help, completion and the README's list come from one table.
//
// It computes nothing. What is measured, joined or judged lives below.
package cli
