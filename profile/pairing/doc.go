// Package pairing sets the costs of several profiles side by side: one row for each
// function, file, line or path, with the cost that each profile has for it.
//
// A profile is summed when it is added and is not needed afterwards, so that dozens of them need
// the memory of one. Each cost has the variance that sampling gives it. The package does not judge:
// the caller decides which differences are more than chance (package stats).
// caller to decide (package stats).
package pairing
