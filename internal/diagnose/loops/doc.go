// Package loops says how often code runs: the loops around it, their iterations,
// and what they leave unchanged.
package loops
