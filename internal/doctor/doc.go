// Package doctor reports what is missing on this machine or limits measurement there: the
// toolchain, the cores and their quota, the clock, the network, the directories that hone writes
// to.
//
// The decision that shapes it: a check reads facts and judges them in two separate functions, so
// that every verdict can be tested with facts of other machines. A verdict says what it means for a
// measurement, and a fix is something to type or to change, not advice.
//
// It does not change anything, does not need a network beyond loopback, and does not guess: a fact
// that the system does not provide is reported as such.
package doctor
