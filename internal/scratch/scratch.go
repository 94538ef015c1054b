// Package scratch creates directories for the lifetime of one process, and removes those that a
// killed process left behind.
//
// The one decision: a directory belongs to a process as long as that process holds the lock of a
// file in it. The kernel releases the lock however the process exits, including kill -9, and a
// reused process ID causes no mistake. If there are no such locks, or a directory has no such file,
// a directory is left over once it is old.
package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ownerFile is locked by the process that the directory belongs to.
const ownerFile = ".owner"

// leftoverAge is the age from which a directory whose owner is unknown is left over.
const leftoverAge = 48 * time.Hour

// Dir is a directory of this process.
type Dir struct {
	Path string
	lock *os.File // nil where there are no locks
}

// Make creates a directory in parent ("" is the system's directory for temporary files) whose name
// starts with prefix.
func Make(parent, prefix string) (*Dir, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	return &Dir{path, lock(filepath.Join(path, ownerFile), true)}, nil
}

// Remove removes the directory and everything in it.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.lock != nil {
		d.lock.Close()
	}
	return err
}

// Sweep removes the directories in parent that start with one of the prefixes and whose process has
// exited. Directories that cannot be removed stay. It does nothing for an empty parent, the
// system's directory.
func Sweep(parent string, now time.Time, prefixes ...string) {
	if parent == "" {
		return
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // writing to it will fail too, with an error
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !hasPrefix(e.Name(), prefixes) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if f := lock(filepath.Join(dir, ownerFile), false); f != nil {
			os.RemoveAll(dir)
			f.Close()
		} else if now.Sub(info.ModTime()) > leftoverAge && !owned(filepath.Join(dir, ownerFile)) {
			os.RemoveAll(dir)
		}
	}
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
