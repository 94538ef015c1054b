// Package choice reads which rules users turn off and which findings they silence: a list of rules
// (-rules), a hone.json of a repository, and comments of the form "//hone:ignore RULE reason" in
// source.
//
// The decision that shapes it: a silenced finding still takes the costs that it explains, so that
// no other rule reports them in its place; it is only counted instead of shown. A rule that is off
// does not run, so its costs are open to others.
//
// It refuses to guess. A rule that does not exist, a comment without a reason, or an unknown field
// is an error or a note, because a directive that has no effect hides a finding that was meant to
// be shown, or shows one that was meant to be hidden.
package choice
