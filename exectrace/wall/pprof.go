package wall

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// View names a profile of the table.
type View string

// The profiles.
const (
	OffCPU  View = "blocking" // waits, by the waiter's stack
	Wakers  View = "wakers"   // the same waits, by the stack that ended them
	Calls   View = "syscalls" // system calls
	Latency View = "sched"    // ready and waiting for a processor, by where the goroutine was
	Starts  View = "created"  // goroutines that were created and wait for their first run, by the go statement
)

// Views lists the profiles that [Fold.Profile] makes.
func Views() []View { return []View{OffCPU, Wakers, Calls, Latency, Starts} }

// Profile makes a pprof profile of count and delay, label "reason" saying what for. Time
// that is still open at the end of the trace is in it, unlike in go tool trace.
func (f *Fold) Profile(v View) (*profile.Profile, error) {
	types := []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	type stackReason struct {
		stack exectrace.StackID
		why   string
	}
	sum := map[stackReason]*waitSum{}
	var order []stackReason
	for i := range f.table.rows {
		r := &f.table.rows[i]
		stack, ok := r.stackFor(v)
		if !ok || stack == 0 {
			continue
		}
		k := stackReason{stack, whyName(f.trace, r.what(), r.why())}
		if sum[k] == nil {
			order = append(order, k)
		}
		sumAt(sum, k).add(r)
	}
	rows := make([]exectrace.Row, 0, len(order))
	for _, k := range order {
		s := sum[k]
		row := exectrace.Row{Stack: k.stack, Values: []int64{s.n, s.total}}
		if k.why != "" {
			row.Labels = map[string]string{"reason": k.why}
		}
		rows = append(rows, row)
	}
	return f.trace.Profile(types, rows)
}

// stackFor returns the stack under which a view books the row, false when it does not.
func (r *row) stackFor(v View) (exectrace.StackID, bool) {
	switch v {
	case OffCPU:
		return r.left(), r.what() == blocked
	case Wakers:
		return r.wake(), r.what() == blocked
	case Calls:
		return r.left(), r.what() == inSyscall
	case Latency:
		return r.left(), r.what() == runnable
	case Starts:
		return r.left(), r.what() == runnable && r.why() == exectrace.Created
	}
	return 0, false
}
