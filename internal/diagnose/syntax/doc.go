// Package syntax answers questions about the typed syntax around a line beyond those of package
// gocode: calls, variables, branches, and what allocates.
//
// A question is a function of a [gocode.Place]. If syntax and types do not decide it, the answer is
// the one with which a rule reports nothing.
package syntax
