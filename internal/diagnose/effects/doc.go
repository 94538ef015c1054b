// Package effects determines what code does beyond computing its results.
//
// [Pure] and [LooksPure] judge a function, [Independent] the iterations of a loop. All follow calls
// within the package and report false for code that they cannot analyze.
package effects
