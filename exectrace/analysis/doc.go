// Package analysis runs the analyses of a trace together, in one pass, and says in words
// what stands out. Each analysis can be had by itself from its own package.
package analysis
