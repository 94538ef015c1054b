// Package inputs holds what functions of a program got: how many calls, and of how many different
// inputs. The probe counts them in a process of its own (package target), by hashes with a random seed
// that never leave the process; what the values were is nowhere.
//
// It knows no program: which functions are worth a look is the recording's choice, what the figures mean the diagnosis'.
package inputs
