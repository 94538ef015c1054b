// Package gogc says which setting of the Go collector is worth a try: whether its work is
// much, how far the heap may grow in the memory that is there, and what that takes.
//
// The one decision: the recording, which tries a setting, and the rule, which advises one, ask
// here, so that what is advised is what was tried.
//
// Observed predicts what another setting does, by a replay of the collections that the runtime printed.
//
// It knows figures only: where they come from is the caller's affair, and what a setting really saves is
// for a trial to say.
package gogc
