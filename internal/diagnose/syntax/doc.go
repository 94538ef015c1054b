// Package syntax answers questions about the typed syntax around a line beyond
// those of package gocode: calls, variables, branches, and what allocates.
//
// A question is a function of a [gocode.Place]. Where syntax and types cannot tell, the
// answer is the one that keeps a rule silent.
package syntax
