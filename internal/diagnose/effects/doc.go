// Package effects finds out what code does beyond computing its results.
//
// [Pure] and [LooksPure] judge a function, [Independent] the iterations of a loop. All
// follow calls within the package and refuse what they cannot see through.
package effects
