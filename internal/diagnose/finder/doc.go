// Package finder finds the lines that rules are about, starting from what the profile shows.
//
// A rule is one of three kinds, each with a type that has only the fields that the kind needs:
//
//   - a line with a pattern in its source: [Line]. It starts from [Calls], [Rows] or [Frames] of the profile
//     and judges the source around each line. [Prepared] is a Line whose start and judge share what they
//     learn about a recording.
//   - a fact about the whole program or a setting: [Program].
//   - a fact that the execution trace shows: [Trace].
//
// [Lines] is the rest of the first kind: rules with a loop of their own over sites, to be turned into
// a Line one by one. TestKinds in package rules counts them, so that there are never more.
package finder
