// Package rewrite changes Go source so that a line costs less and does the same.
//
// A rewrite belongs to a rule of package diagnose and is offered where types and syntax alone show that old and new
// agree on every input, or where a condition that can be checked holds (a variable is only read); what is in doubt is
// refused with a reason. Each has a golden file of what it makes, one of what it must leave alone, and a test that runs old
// and new on random inputs.
//
// The package computes texts. Who writes them, tests and measures them is package fix.
package rewrite
