// Package flow follows strings and buffers through a function to where they end up.
package flow
