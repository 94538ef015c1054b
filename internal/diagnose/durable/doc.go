// Package durable decides whether a write to a store within the process waits for the disk. Whether
// it does depends on options: on those of the call (goleveldb, pebble), or on those with which the
// program opens the store (bbolt, badger). A call whose options come from elsewhere is taken as one
// that does not wait.
package durable
