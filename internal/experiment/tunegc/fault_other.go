//go:build !linux

package tunegc

// faultCost measures what the first use of a page of fresh memory costs, in CPU seconds. Only Linux
// has it.
func faultCost() (seconds float64, ok bool) { return 0, false }
