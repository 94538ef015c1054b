// Package compare sets two results beside each other and gives a verdict per
// metric: better, worse, same, or unknown.
//
// The decision that shapes it: "same" has to be earned. A difference whose
// interval lies inside the floor is same; one whose interval holds both 1 and
// values beyond the floor is unknown, which is not the same thing. What the
// package refuses to do is to compare results whose generator was the limit.
//
// Profiles are compared row by row ([Differ]), hundreds of rows at a time. There, "moved"
// means that of all rows called so at most 1 in 40 is chance, however many were looked at.
package compare
