//go:build !linux

package load

import "time"

// precise has nothing to prepare: elsewhere Go's timers are as good as the
// system's.
func precise() (undo func()) { return func() {} }

func nap(d time.Duration) { time.Sleep(d) }
