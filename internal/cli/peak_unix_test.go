//go:build unix

package cli

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the peak resident memory of a process that exited, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	use, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return use.Maxrss
	}
	return use.Maxrss << 10
}
