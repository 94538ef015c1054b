package gc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// Result is what the garbage collector did.
type Result struct {
	Length float64 `json:"length_seconds"`
	// Cycles is the number of cycles that ended in the trace, and PerSecond their rate. Seconds and
	// Share are the time with a cycle in progress.
	Cycles    int64   `json:"cycles"`
	PerSecond float64 `json:"cycles_per_second"`
	Seconds   float64 `json:"seconds"`
	Share     float64 `json:"share"`
	Heap      *Heap   `json:"heap,omitempty"` // absent if the trace has no heap counter
	Stops     []Stop  `json:"stops,omitempty"`
	Assists   Assists `json:"assists"`
	// Utilization is, for each window length, the smallest share of the processors that the program
	// had in any window.
	Utilization []Window `json:"utilization,omitempty"`
	// List has the first 1000 cycles.
	List []Cycle `json:"cycle_list,omitempty"`
}

// Heap is the size of the heap over the trace, in bytes.
type Heap struct {
	Low  uint64 `json:"low"`
	High uint64 `json:"high"`
	Goal uint64 `json:"highest_goal"`
	// Rate is the number of bytes allocated per second: the sum of all increases of the counter.
	// The counter changes when the allocator takes a span, so allocations from a span in use are
	// counted late.
	Rate float64 `json:"allocated_per_second"`
}

// Cycle is one collection, including mark and sweep termination.
type Cycle struct {
	Begin   float64 `json:"begin_seconds"` // since the start of the trace
	Seconds float64 `json:"seconds"`
	Peak    uint64  `json:"peak_bytes"`   // largest heap since the previous cycle
	Bottom  uint64  `json:"bottom_bytes"` // smallest heap since the previous cycle
	Goal    uint64  `json:"goal_bytes"`
}

// Stop is the stops of the world for one reason.
type Stop struct {
	Reason  string  `json:"reason"`
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
	Max     float64 `json:"max_seconds"`
	WorstAt float64 `json:"worst_at_seconds"` // start of the longest one
	// Stopping is the time that the longest stop took until the last goroutine had stopped. Late is
	// the line of that goroutine: a long loop without calls, or a system call of the runtime. Both
	// are absent if no goroutine ran.
	Stopping float64        `json:"worst_stopping_seconds,omitempty"`
	Late     exectrace.Line `json:"late,omitzero"`
}

// Assists is the marking that goroutines had to do when they allocated.
type Assists struct {
	Count   int64        `json:"count"`
	Seconds float64      `json:"seconds"`         // of goroutines, including waits for work and for processors during an assist
	Running float64      `json:"running_seconds"` // the part of Seconds on a processor
	Lines   []AssistLine `json:"lines,omitempty"`
}

// AssistLine is the assists of one line.
type AssistLine struct {
	Line    exectrace.Line `json:"line"`
	Count   int64          `json:"count"`
	Seconds float64        `json:"seconds"`
	Running float64        `json:"running_seconds"`
	Max     float64        `json:"max_seconds"`
}

// Window is one point of the curve of minimum mutator utilization.
type Window struct {
	Length float64 `json:"window_seconds"`
	Least  float64 `json:"least"` // 0 to 1
	At     float64 `json:"at_seconds"`
}

// Result returns the sums.
func (f *Fold) Result() *Result {
	r := &Result{Length: exectrace.Seconds(f.length), Cycles: f.count, Seconds: exectrace.Seconds(f.gcTime), List: f.cycles}
	if f.length > 0 {
		r.PerSecond = float64(f.count) / r.Length
		r.Share = float64(f.gcTime) / float64(f.length)
	}
	if h := f.heap; h.seen {
		r.Heap = &Heap{Low: h.low, High: h.high, Goal: h.highGoal}
		if h.last > h.first {
			r.Heap.Rate = float64(h.grown) / exectrace.Seconds(h.last-h.first)
		}
	}
	for _, s := range f.stops {
		r.Stops = append(r.Stops, *s)
	}
	slices.SortFunc(r.Stops, func(a, b Stop) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Reason, b.Reason))
	})
	r.Assists = f.assistLines()
	for i := range f.mmu.windows {
		if w := &f.mmu.windows[i]; w.length <= f.length {
			r.Utilization = append(r.Utilization, Window{exectrace.Seconds(w.length), max(0, w.mean()), exectrace.Seconds(w.at)})
		}
	}
	return r
}

func (f *Fold) assistLines() Assists {
	t := &f.assistTotal
	a := Assists{Count: t.n, Seconds: exectrace.Seconds(t.total), Running: exectrace.Seconds(t.ran)}
	by := map[exectrace.Line]*AssistLine{}
	for _, stack := range slices.Sorted(maps.Keys(f.assists)) { // sums of floats depend on the order
		s := f.assists[stack]
		line := f.trace.Blame(stack)
		l := by[line]
		if l == nil {
			l = &AssistLine{Line: line}
			by[line] = l
		}
		l.Count += s.n
		l.Seconds += exectrace.Seconds(s.total)
		l.Running += exectrace.Seconds(s.ran)
		l.Max = max(l.Max, exectrace.Seconds(s.max))
	}
	for _, l := range by {
		a.Lines = append(a.Lines, *l)
	}
	slices.SortFunc(a.Lines, func(x, y AssistLine) int {
		return cmp.Or(cmp.Compare(y.Seconds, x.Seconds), cmp.Compare(x.Line.String(), y.Line.String()))
	})
	return a
}

// Profile returns the assists as a pprof profile.
func (f *Fold) Profile() (*profile.Profile, error) {
	types := []profile.ValueType{{Type: "assists", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	var rows []exectrace.Row
	for stack, s := range f.assists {
		rows = append(rows, exectrace.Row{Stack: stack, Values: []int64{s.n, s.total}})
	}
	slices.SortFunc(rows, func(a, b exectrace.Row) int { return cmp.Compare(a.Stack, b.Stack) })
	return f.trace.Profile(types, rows)
}
