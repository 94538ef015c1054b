package wall

import (
	"github.com/hone-go/hone/exectrace"
)

// Yielded is the reason of a goroutine that is ready because it called runtime.Gosched.
const Yielded = "yielded"

func (w what) String() string {
	return [...]string{"running", "gc assist", "gc sweep", "runnable", "blocked", "syscall"}[w]
}

// whyName returns the reason of an interval in words; empty if the kind says it all.
func whyName(t *exectrace.Trace, w what, why exectrace.Reason) string {
	switch {
	case w == blocked && why == exectrace.ReasonNone:
		return "unknown" // it started before the trace
	case w == blocked:
		return t.ReasonName(nil, why)
	case w != runnable:
		return ""
	}
	switch why {
	case exectrace.Created:
		return "created"
	case exectrace.Woken:
		return "woken"
	case exectrace.Preempted:
		return "preempted"
	case exectrace.Gosched:
		return Yielded
	case exectrace.SyscallLost:
		return "syscall"
	}
	return "unknown"
}

// mean returns the mean of n durations in nanoseconds, in seconds; nil when there are none.
func mean(total, n int64) *float64 {
	if n == 0 {
		return nil
	}
	m := exectrace.Seconds(total) / float64(n)
	return &m
}

// Why returns the reason why a goroutine was in a state, in the words of profiles: "chan receive",
// "woken".
func Why(t *exectrace.Trace, state exectrace.State, why exectrace.Reason) string {
	switch state {
	case exectrace.Waiting:
		return whyName(t, blocked, why)
	case exectrace.Runnable:
		return whyName(t, runnable, why)
	}
	return ""
}
