// Package scratch makes directories for the time of one process, and removes those that a killed
// process left behind.
//
// The one decision: a directory belongs to a process as long as that process holds the lock of a
// file in it. The kernel releases the lock however the process ends, kill -9 included, and no
// process ID is used again by mistake. Where there are no such locks, or a directory has no such file,
// a directory is left behind once it is old.
package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ownerFile is locked by the process that the directory belongs to.
const ownerFile = ".owner"

// leftoverAge is when a directory whose owner is unknown is nobody's any more.
const leftoverAge = 48 * time.Hour

// Dir is a directory of this process.
type Dir struct {
	Path string
	lock *os.File // nil where there are no locks
}

// Make makes a directory in parent ("" is the system's for temporary files) whose name starts with prefix.
func Make(parent, prefix string) (*Dir, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	return &Dir{path, lock(filepath.Join(path, ownerFile), true)}, nil
}

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.lock != nil {
		d.lock.Close()
	}
	return err
}

// Sweep removes the directories in parent that start with one of the prefixes and whose process is gone.
// What cannot be removed stays. An empty parent, the system's directory, is not hone's to sweep.
func Sweep(parent string, now time.Time, prefixes ...string) {
	if parent == "" {
		return
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // it cannot be written to either, which is an error soon
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
