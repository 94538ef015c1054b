// Package doctor says what is missing on this machine or limits measurement
// there: the toolchain, the cores and what holds them back, the clock, the
// network, the places hone writes to.
//
// The decision that shapes it: a check reads facts and judges them in two
// separate functions, so that every verdict can be tested on facts of machines
// that we do not have. A verdict says what it means for a measurement, and a
// fix is something to type or to change, not advice.
//
// It refuses to change anything, to need a network beyond the loopback, and to
// guess: a fact that this system does not offer is reported as such.
package doctor
