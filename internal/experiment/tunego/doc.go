// Package tunego measures a target built with other Go toolchains: the newest release of its minor
// version, the newest of the minor versions after it, or those that the user names, interleaved
// with the target's current toolchain.
//
// The go command downloads toolchains that are not installed (GOTOOLCHAIN=go1.x.y); go.mod is not
// changed. A toolchain that is not available, or does not build the target, is reported as such.
package tunego
