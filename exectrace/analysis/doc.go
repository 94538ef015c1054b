// Package analysis runs all analyses of a trace in one pass and puts what stands out into words.
// Each analysis is also available on its own, in its package.
package analysis
