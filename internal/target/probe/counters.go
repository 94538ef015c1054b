//go:build hone_counters

// Package target compiles this file as part of package internal/coverage/cfile, whose functions it
// calls (see probePlace there). It is never part of package probe.

package probe

import hone0io "io"

// hone0coverage writes what coverage instrumentation knows, or sets its counters to zero.
func hone0coverage(w hone0io.Writer, what string) (missing string, err error) {
	switch what {
	case "meta":
		err = WriteMeta(w)
	case "counters":
		err = WriteCounters(w)
	case "clear":
		err = ClearCounters()
	default:
		missing = "the probe does not know coverage " + what
	}
	return missing, err
}
