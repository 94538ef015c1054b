package wall

import (
	"github.com/hone-go/hone/exectrace"
)

// Yielded is why a goroutine is ready that called runtime.Gosched.
const Yielded = "yielded"

func (w what) String() string {
	return [...]string{"running", "gc assist", "gc sweep", "runnable", "blocked", "syscall"}[w]
}

// whyName is the reason of an interval in words, empty where the kind says it all.
func whyName(t *exectrace.Trace, w what, why exectrace.Reason) string {
	switch {
	case w == blocked && why == exectrace.ReasonNone:
		return "unknown" // it began before the trace
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

// mean of n nanosecond durations in seconds; nil when there are none.
func mean(total, n int64) *float64 {
	if n == 0 {
		return nil
	}
	m := exectrace.Seconds(total) / float64(n)
	return &m
}

// Why returns the words for why a goroutine was in a state, as in profiles: "chan receive", "woken".
func Why(t *exectrace.Trace, state exectrace.State, why exectrace.Reason) string {
	switch state {
	case exectrace.Waiting:
		return whyName(t, blocked, why)
	case exectrace.Runnable:
		return whyName(t, runnable, why)
	}
	return ""
}
