// Package rule is the vocabulary that diagnosis rules are written in: what a
// rule is ([Rule]), what it sees ([Pass]) and what it answers ([Match]).
//
// The one decision behind it: a rule answers with rows, never with numbers. It
// says which rows of which site its fix would touch, and which share of their
// cost the fix saves. Package diagnose does the pricing, overlap, ranking and the
// floor once, for all rules. So no rule can count a cost twice or invent one.
//
// A rule starts from what the profile shows, then asks the typed syntax whether
// the line really is the mistake, then the compiler what it decided there. It
// never reports code that costs nothing, and it never knows a program's names.
//
// How rules find their lines is in package finder. What they ask is in packages of
// one job each: stacks and funcname (rows), syntax, loops, effects and flow
// (source), locks, safety, httpconn, and evidence, collector and traced (the recording).
package rule
