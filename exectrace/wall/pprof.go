package wall

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// View names a profile of the table.
type View string

// The profiles.
const (
	Time    View = "goroutines" // all time of all goroutines; it sums to their lifetimes
	OffCPU  View = "blocking"   // waits, by the waiter's stack
	Wakers  View = "wakers"     // the same waits, by the stack that ended them
	Calls   View = "syscalls"   // system calls
	Latency View = "sched"      // ready and waiting for a processor, by where the goroutine was
)

// Profile makes a pprof profile of count and delay, label "reason" saying what for. Time
// that is still open at the end of the trace is in it, unlike in go tool trace.
//
// Time has the label "state" too. What a goroutine did on a processor, or before it first came to one, is
// not known by stack: it stands at the function that the goroutine was started with.
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

// pprofKey says which rows are one sample of a profile.
type pprofKey struct {
	stack      exectrace.StackID
	root       bool // the outermost frame of stack alone
	state, why string
}

// pprofKey returns where a view books the row, but for the reason; false when it does not.
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
