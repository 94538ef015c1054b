// Package capture records a target: it builds and starts it (or attaches to it),
// drives it with load, and runs collectors in phases, one kind of observation at
// a time.
//
// The decision that shapes it: every phase runs under one and the same load and
// is cut into windows of about a second, the clean phase without any collector
// included. So each phase's figures have a spread, and what a collector costs (its
// observer effect) is measured against the clean phase instead of assumed. A
// program that ends has no stretches of time to cut; it is run again for every
// phase, and a run takes the place of a window. A benchmark is such a program.
//
// What a phase could not get is written into the recording with the reason and
// the way to get it, and the next phase goes on. Only three things end a recording
// early: the target ended, the load ended, the caller's context ended. Even then
// what was recorded stays readable, raised rates are restored, and the target
// that hone started is stopped.
//
// The package refuses to interpret: it judges nothing but whether a trial of the
// collector's setting is worth the time, for which it asks package gogc. It
// prints nothing; whoever waits gets Events.
package capture
