package requests

import (
	"fmt"
	"math"
	"strings"
)

// minShare is the minimum part of a difference that a sentence names.
const minShare = 0.05

// Title is the route's name, or what its requests are called together that have none.
func (r *Route) Title() string {
	if r.Other {
		return "(other routes)"
	}
	return title(r.Name, r.Protocol)
}

// Title is the route's name, or what its requests are called that have none.
func (r *CPURoute) Title() string { return title(r.Name, r.Protocol) }

// Title is the name of the request's route, or what a request is called that has none.
func (q *Request) Title() string { return title(q.Route, q.Protocol) }

func title(route string, p Protocol) string {
	if route == "" {
		return "(" + p.String() + " requests without a name)"
	}
	return route
}

// Sentence says in words what makes slow requests slow: "p99 is 18.2 ms, 14.1 ms more than the
// median: 71 % of the difference is waiting for a sync.Mutex at shop/store.go:41 (released
// at shop/store.go:58), 12 % waiting for a processor after a wake-up (none was idle)".
func (w *Why) Sentence() string {
	var b strings.Builder
	fmt.Fprintf(&b, "p%s is %s, ", percent(w.Quantile), Duration(w.Slow))
	if w.Slow-w.Median < w.Median/10 {
		fmt.Fprintf(&b, "about the median (%s): nothing sets the slow requests apart", Duration(w.Median))
		return b.String()
	}
	fmt.Fprintf(&b, "%s more than the median", Duration(w.Slow-w.Median))
	sep := ": "
	named := 0
	for i := range w.Causes {
		c := &w.Causes[i]
		if c.Share < minShare || named == 5 {
			break
		}
		share := fmt.Sprintf("%.0f %%", 100*c.Share)
		if named == 0 {
			share += " of the difference is"
		}
		b.WriteString(sep + share + " " + c.Text())
		sep = ", "
		named++
	}
	if named == 0 {
		b.WriteString(", in many small parts")
	}
	return b.String()
}

// percent writes a quantile as people say it: 0.999 is "99.9".
func percent(q float64) string { return fmt.Sprintf("%.4g", 100*q) }

// Text says what a place is: "waiting for a sync.Mutex at shop/store.go:41 (released at
// shop/store.go:58)".
func (p *Place) Text() string {
	var b strings.Builder
	b.WriteString(doing(p.Part, p.Object))
	if p.Waiter != nil {
		b.WriteString(" at " + p.Waiter.String())
	}
	if p.Caller != nil {
		b.WriteString(", called at " + p.Caller.String())
	}
	switch {
	case p.Part.ready() && p.Part != ReadyPreempted && p.NoIdle:
		b.WriteString(" (none was idle)")
	case p.Part.ready() && p.Part != ReadyPreempted:
		b.WriteString(" (though one was idle, and had to be woken)")
	case p.Part.external():
	case len(p.Wakers) > 0 && p.Wakers[0].Line != nil:
		how := "woken"
		if p.Part == WaitSync && strings.Contains(p.Object, "Mutex") {
			how = "released"
		}
		if p.Wakers[0].Share < 0.8 {
			how += " mostly"
		}
		b.WriteString(" (" + how + " at " + p.Wakers[0].Line.String() + ")")
	}
	return b.String()
}

// doing is a part in words that follow "is".
func doing(p Part, object string) string {
	switch p {
	case Running:
		return "running"
	case Assist:
		return "helping the collector to mark (assist)"
	case Sweep:
		return "sweeping for the collector"
	case ReadyCreated:
		return "waiting for a processor after its creation"
	case ReadyWoken:
		return "waiting for a processor after a wake-up"
	case ReadyPreempted:
		return "waiting for a processor after preemption"
	case ReadySyscall:
		return "waiting for a processor after a system call"
	case Stopped:
		return "in a stop-the-world pause"
	case InSyscall:
		return "in a system call"
	}
	if p == WaitSleep {
		return "sleeping"
	}
	if object == "" {
		return "waiting"
	}
	return "waiting for " + object
}

// Duration writes nanoseconds with three digits: "18.2 ms".
func Duration(ns int64) string {
	v, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if math.Abs(v) < 999.5 {
			break
		}
		v, unit = v/1000, next
	}
	switch a := math.Abs(v); {
	case a < 10 && unit != "ns":
		return fmt.Sprintf("%.2f %s", v, unit)
	case a < 100 && unit != "ns":
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
