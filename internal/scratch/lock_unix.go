//go:build unix

package scratch

import (
	"os"
	"syscall"
)

// lock locks a file, which it creates if asked to, and returns it; nil when it is not there or another
// process holds it.
func lock(path string, create bool) *os.File {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil
	}
	return f
}

// owned reports whether a process holds the lock of a directory, by its file being there: lock would have
// taken one that nobody holds.
func owned(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
