//go:build linux || darwin

package doctor

import "golang.org/x/sys/unix"

// freeBytes returns how much an ordinary user may still write to the disk of dir.
func freeBytes(dir string) (n uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
