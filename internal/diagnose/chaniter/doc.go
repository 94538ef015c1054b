// Package chaniter recognizes goroutines whose only work is to send values that are in memory to a
// channel: iterators that were written before Go had functions to range over.
package chaniter
