// Package receivers recognizes goroutines that pass what they receive to each of some receivers,
// and wait in one of them.
package receivers
