// Package target builds, starts, attaches to, watches and stops the program
// under measurement, and holds the probe that a build overlay adds to it.
package target
