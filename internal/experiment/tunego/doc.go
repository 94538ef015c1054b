// Package tunego measures what other Go toolchains make of a target: the newest release of its own minor version, the newest of the
// minor versions after it, or those that the user names, in turns with the toolchain that the target has now.
//
// The go command fetches what is not installed (GOTOOLCHAIN=go1.x.y); go.mod stays as it is. A toolchain that cannot be had, or that
// does not build the target, is reported as that.
package tunego
