// Package finder finds the lines that rules are about, starting from what the profile shows.
//
// A rule is one of three kinds, each with types that have only the fields that the kind needs:
//
//   - a line with a pattern in its source: [Line]. It starts from rows of the profile ([Calls],
//     [Rows], [Sites], [Frames], [Callers]) and judges the source around each line. [Prepared] is a
//     Line whose start and judge share what they compute about a recording; [Patterns] is several
//     Lines of one rule; [Groups] is for rows of several lines.
//   - a fact about the whole program or a setting: [Program].
//   - a fact that the execution trace shows: [Trace].
package finder
