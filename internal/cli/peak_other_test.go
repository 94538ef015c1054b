//go:build !unix

package cli

import "os"

// peakMemory is not available here.
func peakMemory(*os.ProcessState) int64 { return 0 }
