// Package rewrite changes Go source so that a line costs less and does the same.
//
// A rewrite belongs to a rule of package diagnose. It is offered if types and syntax alone show
// that old and new code agree on every input, or if a condition that can be checked holds (a
// variable is only read). What is in doubt is refused with a reason. Each rewrite has a golden file
// with what it makes, another with what it must leave alone, and a test that runs old and new code
// on random inputs.
//
// The package computes texts. Package fix writes, tests and measures them.
package rewrite
