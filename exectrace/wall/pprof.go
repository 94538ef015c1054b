package wall

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// View names a profile of the table.
type View string

// The profiles.
const (
	Time    View = "goroutines" // all time of all goroutines; the sum of their lifetimes
	OffCPU  View = "blocking"   // waits, by the waiter's stack
	Wakers  View = "wakers"     // the same waits, by the stack that ended them
	Calls   View = "syscalls"   // system calls
	Latency View = "sched"      // time ready and waiting for a processor, by the stack at which the goroutine became ready
)

// Profile returns a pprof profile of counts and delays, with the reason in the label "reason".
// Unlike that of go tool trace, it includes intervals that are still open at the end of the trace.
//
// Time also has the label "state". The stack of the time on a processor, and of the time before the
// first run, is unknown: it is charged to the function that the goroutine was started with.
func (f *Fold) Profile(v View) (*profile.Profile, error) {
	types := []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	if v == Time {
		types = []profile.ValueType{{Type: "intervals", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}}
	}
	sum := map[pprofKey]*waitSum{}
	var order []pprofKey
	for i := range f.table.rows {
		r := &f.table.rows[i]
		k, ok := r.pprofKey(v)
		if !ok || k.stack == 0 && v != Time {
			continue
		}
		if gr := f.group[k.stack]; k.root && gr != nil && gr.wraps != 0 {
			k.stack = gr.wraps
		}
		k.why = whyName(f.trace, r.what(), r.why())
		if sum[k] == nil {
			order = append(order, k)
		}
		sumAt(sum, k).add(r)
	}
	rows := make([]exectrace.Row, 0, len(order))
	for _, k := range order {
		s := sum[k]
		row := exectrace.Row{Stack: k.stack, RootOnly: k.root, Values: []int64{s.n, s.total}, Labels: map[string]string{}}
		if k.why != "" {
			row.Labels["reason"] = k.why
		}
		if k.state != "" {
			row.Labels["state"] = k.state
		}
		rows = append(rows, row)
	}
	return f.trace.Profile(types, rows)
}

// pprofKey identifies the rows that are one sample of a profile.
type pprofKey struct {
	stack      exectrace.StackID
	root       bool // only the outermost frame of stack
	state, why string
}

// pprofKey returns where a view counts the row, without the reason; false if it does not count it.
func (r *row) pprofKey(v View) (pprofKey, bool) {
	switch v {
	case Time:
		k := pprofKey{stack: r.left(), state: r.what().String()}
		if k.stack == 0 || r.what() < runnable || r.what() == runnable && r.why() == exectrace.Created {
			k.stack, k.root = r.entry(), true
		}
		return k, true
	case OffCPU:
		return pprofKey{stack: r.left()}, r.what() == blocked
	case Wakers:
		return pprofKey{stack: r.wake()}, r.what() == blocked
	case Calls:
		return pprofKey{stack: r.left()}, r.what() == inSyscall
	case Latency:
		return pprofKey{stack: r.left()}, r.what() == runnable
	}
	return pprofKey{}, false
}
