//go:build !hone_counters

package probe

import hone0io "io"

// hone0coverage has nothing to write: the program was built without counters.
func hone0coverage(hone0io.Writer, string) (missing string, err error) {
	return "the program was built without coverage instrumentation", nil
}
