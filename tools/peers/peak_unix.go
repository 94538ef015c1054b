//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMiB returns the peak resident memory of a finished process. On Linux, it is never below that
// of this process at the start of the child, so this process must stay small: a child creates the
// test data.
func peakMiB(s *os.ProcessState) float64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(u.Maxrss) / (1 << 20) // bytes on Darwin, KiB elsewhere
	}
	return float64(u.Maxrss) / (1 << 10)
}
