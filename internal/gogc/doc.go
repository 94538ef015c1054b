// Package gogc decides which GOGC is worth a trial: whether garbage collection costs enough, how
// far the heap may grow in the available memory, and how much memory that takes.
//
// The recording, which tries a setting, and the rule, which recommends one, both ask this package,
// so the rule recommends the setting that the recording tried.
//
// Observed predicts the effect of another setting by simulating the collections that the runtime
// printed.
//
// The package computes with figures that the caller provides. Only a trial shows what a setting
// really saves.
package gogc
