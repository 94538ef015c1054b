// Package gogc decides which GOGC is worth a trial: whether garbage collection costs enough, how
// far the heap may grow in the available memory, and how much memory that takes.
//
// The one decision: both the recording, which tries a setting, and the rule, which recommends one,
// ask this package, so that what is recommended is what was tried.
//
// Observed predicts the effect of another setting by simulating the collections that the runtime
// printed.
//
// The package computes with figures that the caller provides. Only a trial shows what a setting
// really saves.
package gogc
