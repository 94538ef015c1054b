// Package prompt is what a prompt needs besides a terminal: it splits lines, completes words and
// keeps a history.
//
// One decision shapes it: nothing here depends on a screen. A line is a string and a position,
// candidates come from the caller, and the history is a list stored in a file. Everything is
// therefore tested without a terminal, and golang.org/x/term does the editing.
//
// It is not a shell: a line has words, at most one output file, and at most one program that the
// output is piped to. The user's shell parses the command of that program.
package prompt
