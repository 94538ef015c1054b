// Package sampling says how a column of a profile was sampled, and so how far chance
// moves its sums.
//
// It knows the sample types that the Go runtime writes. Of others it claims nothing.
package sampling
