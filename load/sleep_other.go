//go:build !linux

package load

import "time"

// precise does nothing: on these systems Go's timers are as precise as nap.
func precise() (undo func()) { return func() {} }

func nap(d time.Duration) { time.Sleep(d) }
