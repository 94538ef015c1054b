// Package finder finds the lines that rules are about, starting from what the profile shows.
//
// A rule is one of three kinds, each with a type that has only the fields that the kind needs:
//
//   - a line with a pattern in its source: [Line]. It starts from rows of the profile ([Calls], [Rows], [Sites],
//     [Frames], [Callers], [Matches]) and judges the source around each line. [Prepared] is a Line whose start and judge share
//     what they compute about a recording; [Patterns] is several Lines of one rule.
//   - a fact about the whole program or a setting: [Program].
//   - a fact that the execution trace shows: [Trace].
//
// [Lines] is what remains of the first kind: rules with a loop of their own over sites, to be turned into
// a Line one by one. TestKinds in package rules counts them, so that there are never more.
package finder
