//go:build !unix

package scratch

import "os"

// lock does nothing: there are no locks on this system.
func lock(string, bool) *os.File { return nil }

// owned is unknown on this system.
func owned(string) bool { return false }
