//go:build hone_counters

// This file is in package internal/coverage/cfile, beside the functions that it calls; see
// coverageDir in package target. Package probe is never compiled with it.

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
