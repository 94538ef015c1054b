// Package prompt is what a prompt needs besides a terminal: taking a line
// apart, completing a word, remembering what was typed.
//
// One decision shapes it: nothing here touches a screen. A line is a string and
// a position, candidates come from the caller, and the history is a list with a
// file behind it. So all of it is tested without a terminal, and
// golang.org/x/term does the editing.
//
// It refuses to be a shell: a line is words, at most one file to write to and at
// most one program to send the output to. That program's words are left to the
// user's own shell.
package prompt
