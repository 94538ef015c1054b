// Package rule is the vocabulary that diagnosis rules are written in: what a rule is ([Rule]), what
// it sees ([Pass]) and what it returns ([Match]).
//
// The one decision behind it: a rule returns rows, never numbers. It says which rows of which site
// its fix would touch, and which share of their cost the fix saves. Package diagnose does the
// pricing, overlap, ranking and the floor once, for all rules. So no rule can count a cost twice or
// invent one.
//
// A rule starts from what the profile shows, then examines the typed syntax to find whether the
// line really is the mistake, then the compiler's decision there. It never reports code that costs
// nothing, and it never depends on a program's names.
//
// Package finder has the ways in which rules find their lines. The questions of rules are in
// packages of one job each: stacks and funcname (rows), syntax, loops, effects and flow (source),
// locks, safety, httpconn, and evidence, collector and traced (the recording).
package rule
