// Package stats turns counts and samples into intervals.
//
// A profile is a count of samples and a load test is a handful of windows, so
// every number this project prints is an estimate. The one decision behind the
// package: an estimate never travels without its 95 % interval, and "cannot
// tell" is an interval like any other, namely an unbounded one. No function
// returns an error or panics; too little or unusable input gives [Unknown] or
// an interval without an upper bound, and a p-value of 1.
//
// Counts are taken as Poisson ([Poisson], [Sum]), parts of a whole as binomial
// ([Share]) and repeated measurements either without any assumption about their
// distribution ([MedianRatio]) or, where means are what matters, by Welch's t
// ([MeanRatio]). Counts are compared by [RateDifference], and a
// whole family of comparisons is kept honest by [FalseDiscovery]. [Add], [Mul], [Part] and [Interval.Scale] carry intervals
// through arithmetic.
//
// The package does no input or output, keeps no state and draws no random
// numbers: equal input gives equal output. It refuses to choose a test by
// looking at the data, and it knows one confidence level, 95 %.
package stats
