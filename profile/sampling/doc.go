// Package sampling says how a column of a profile was sampled, and therefore how much its sums vary
// by chance.
//
// It knows the sample types that the Go runtime writes; all others are Unknown.
package sampling
