//go:build unix

package scratch

import (
	"os"
	"syscall"
)

// lock locks a file, which it creates if asked to, and returns it. It returns nil if the file does
// not exist or another process holds the lock.
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

// owned reports whether a process holds the lock of a directory: its file exists, and lock has not
// acquired it.
func owned(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
