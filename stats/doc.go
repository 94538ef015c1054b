// Package stats turns counts and samples into intervals.
//
// A profile is a count of samples and a load test is a handful of windows, so every number derived
// from them is an estimate. Therefore each estimate comes with its 95 % interval, and an unknown
// quantity is an unbounded interval. No function returns an error or panics; too little or unusable
// input gives [Unknown] or an interval without an upper bound, and a p-value of 1.
//
// Counts are taken as Poisson ([Poisson], [Sum]), parts of a whole as binomial ([Share]) and
// repeated measurements either without assumptions about their distribution ([MedianRatio]) or, to
// compare means, by Welch's t ([MeanRatio]). Counts are compared by [RateDifference], and
// [FalseDiscovery] adjusts a family of comparisons. [Add], [Mul], [Part] and [Interval.Scale]
// propagate intervals through arithmetic.
//
// The package does no input or output, keeps no state and draws no random numbers: equal input
// gives equal output. It never chooses a test by looking at the data, and the only confidence level
// is 95 %.
package stats
