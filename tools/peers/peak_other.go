//go:build !unix

package main

import "os"

// peakMiB returns 0: this system does not report a child's peak memory.
func peakMiB(*os.ProcessState) float64 { return 0 }
