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
// The package also holds what rules have in common: rows by callee ([Take]), the
// walks over sites and calls ([Pass.Judge], [Pass.Gather], [Search]), what a line allocates itself
// ([TakeHere], [Makers]), what runs again and again ([PerCall], [Steady]), how often a loop runs
// ([Rounds], [EveryRound]), where a buffer goes ([Pass.BufferUse]), syntax questions beyond those of
// package gocode ([Calls], [Loops], [Same]) and numbers in words.
package rule
