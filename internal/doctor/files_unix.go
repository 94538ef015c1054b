//go:build unix

package doctor

import "golang.org/x/sys/unix"

// readFileLimit reads the limit after the Go runtime raised it at the start, as it does in every Go
// program.
func readFileLimit() fileLimit {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return fileLimit{none: true}
	}
	if n := uint64(r.Cur); n < 1<<62 {
		return fileLimit{n: n}
	}
	return fileLimit{none: true} // RLIM_INFINITY
}
