//go:build !linux

package target

import (
	"context"
	"runtime"
)

// process cannot be found without /proc.
func (r *Remote) process(context.Context, []byte) (int, *Missing) {
	return 0, &Missing{
		What: "CPU time and memory of the service",
		Why:  "its process is found through /proc, which " + runtime.GOOS + " does not have",
		How:  "let hone start the service",
	}
}

func executable(int) string { return "" }

func startTime(int) uint64 { return 0 }
