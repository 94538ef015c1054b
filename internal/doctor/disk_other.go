//go:build !linux && !darwin && !windows

package doctor

// freeBytes: not read on this system.
func freeBytes(string) (n uint64, known bool) { return 0, false }
