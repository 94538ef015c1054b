// Package inputs holds what functions of a program were called with: how many calls, and how many
// different inputs. The probe counts them in a process of its own (package target), by hashes with
// a random seed that never leave the process. The values themselves are not recorded: of texts and
// lists, the probe sums up their lengths and counts how many have some property.
//
// It does not depend on the program: the recording chooses which functions to watch, and the
// diagnosis interprets the figures.
package inputs
