// Package rule is the vocabulary that diagnosis rules are written in: what a
// rule is ([Rule]), what it sees ([Pass]) and what it answers ([Match]).
//
// The one decision behind it: a rule answers with rows, never with numbers. It
// says which rows of which site its fix would touch and which share of their
// cost the fix saves; pricing, overlap, ranking and the floor are done once, for
// all rules alike, by package diagnose. So no rule can count a cost twice or
// invent one.
//
// A rule starts from what the profile shows, then asks the typed syntax whether
// the line really is the mistake, then the compiler what it decided there. It
// never reports code that costs nothing, and it never knows a program's names.
//
// The package also holds what rules have in common: rows by callee ([Take]), the walks over sites and
// calls (of what a line makes [Pass.Judge], of what it calls [Search], of what others are charged with
// [Pass.Gather] and [Pass.Through]), what a line allocates itself ([TakeHere], [Makers]), what runs again
// and again ([PerCall], [Steady]), how often a loop runs ([Iterations], [EveryIteration]), what a loop
// leaves alone ([Invariant], and for sure [Unchanged]), where a buffer goes ([Pass.BufferUse]), critical
// sections ([Sections]), lines of the trace ([Pass.At]), syntax questions beyond those of package gocode
// ([Calls], [Loops], [Same]), and names and numbers in words ([FuncText], [TypeText], [Some]).
package rule
