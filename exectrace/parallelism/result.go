package parallelism

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/profile"
)

// Result says how parallel the program was.
type Result struct {
	Length float64 `json:"length_seconds"`
	Procs  int     `json:"gomaxprocs"`
	// Running is the time, in seconds, with k goroutines of the program running, by k. Busy is the
	// time with k processors that were not idle, which includes the garbage collector and the
	// scheduler.
	Running []float64 `json:"running_seconds"`
	Busy    []float64 `json:"busy_seconds"`
	// MeanRunning and MeanBusy are their means: the number of processors used.
	MeanRunning float64 `json:"mean_running"`
	MeanBusy    float64 `json:"mean_busy"`
	// Serial is the time with one goroutine running, none ready, and idle processors.
	Serial SerialTime `json:"serial"`
	// Tails is the time lost at the ends of parallel regions.
	Tails TailTime `json:"tails"`
	// Saturated is how long goroutines that became ready while no processor was idle waited for
	// one. Wakeup is the same for those that found an idle processor: the cost of waking it.
	Saturated Latency `json:"latency_saturated"`
	Wakeup    Latency `json:"latency_wakeup"`
	// Held is the time, in seconds, in which a goroutine was ready though fewer goroutines ran than
	// there are processors: a processor was switching goroutines, in a system call, or waking up.
	Held float64 `json:"held_seconds"`
	// Marking is how much the garbage collector slows the program down while it marks.
	Marking Marking `json:"marking"`
}

// SerialTime is time in which only one goroutine had work.
type SerialTime struct {
	Seconds float64      `json:"seconds"`
	Share   float64      `json:"share"` // of the trace
	Lines   []SerialLine `json:"lines,omitempty"`
	// Unnamed is the part, in seconds, whose line is unknown.
	Unnamed float64 `json:"unnamed_seconds,omitempty"`
	// Stacks is the same by whole stack, most time first. Finding the loop that contains a line
	// requires its callers.
	Stacks []SerialStack `json:"-"`
}

// SerialStack is serial time at one stack.
type SerialStack struct {
	Frames  []exectrace.Frame // leaf first
	Seconds float64
	Count   int64 // number of serial sections
}

// SerialLine is serial time at one line.
type SerialLine struct {
	Line    exectrace.Line `json:"line"`
	Entry   string         `json:"entry,omitempty"` // function that its goroutine was started with
	Seconds float64        `json:"seconds"`
	Count   int64          `json:"count"`             // number of serial sections
	Samples int64          `json:"samples,omitempty"` // CPU samples in serial time, if the trace has any
}

// TailTime is processor time that was lost at the end of parallel regions.
type TailTime struct {
	Regions  int64      `json:"regions"`
	Parallel float64    `json:"parallel_seconds"` // wall time of the regions
	Lost     float64    `json:"lost_seconds"`     // processor time
	Share    float64    `json:"share"`            // of the regions' wall time × GOMAXPROCS
	Lines    []TailLine `json:"lines,omitempty"`
}

// TailLine is the line at which the last goroutine of a region stopped.
type TailLine struct {
	Line  exectrace.Line `json:"line"`
	Count int64          `json:"count"`
	Lost  float64        `json:"lost_seconds"`
}

// Latency is how long ready goroutines waited, in seconds.
type Latency struct {
	Count int64   `json:"count"`
	Total float64 `json:"total_seconds"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Result returns the sums.
func (f *Fold) Result() *Result {
	r := &Result{Length: exectrace.Seconds(f.length), Procs: f.most, Held: exectrace.Seconds(f.held)}
	if f.trace == nil {
		return r
	}
	r.Running, r.MeanRunning = spread(f.busy, f.length)
	r.Busy, r.MeanBusy = spread(f.procd, f.length)
	r.Serial = f.serialTime()
	r.Tails = f.tails()
	r.Saturated, r.Wakeup = latency(f.saturated), latency(f.wakeup)
	r.Marking = f.marking.result(f.length)
	return r
}

func spread(by []int64, length int64) (out []float64, mean float64) {
	for k, d := range by {
		out = append(out, exectrace.Seconds(d))
		if length > 0 {
			mean += float64(k) * float64(d) / float64(length)
		}
	}
	return out, mean
}

func (f *Fold) serialTime() SerialTime {
	s := SerialTime{Seconds: exectrace.Seconds(f.serialTotal), Unnamed: exectrace.Seconds(f.serialUnnamed)}
	if f.length > 0 {
		s.Share = float64(f.serialTotal) / float64(f.length)
	}
	by := map[exectrace.Line]*SerialLine{}
	at := func(stack exectrace.StackID) *SerialLine {
		line := f.trace.Blame(stack)
		l := by[line]
		if l == nil {
			l = &SerialLine{Line: line, Entry: f.trace.Root(stack).Function}
			by[line] = l
		}
		return l
	}
	for _, stack := range slices.Sorted(maps.Keys(f.serial)) {
		sum := f.serial[stack]
		l := at(stack)
		l.Seconds += exectrace.Seconds(sum.total)
		l.Count += sum.n
		s.Stacks = append(s.Stacks, SerialStack{f.trace.Frames(stack), exectrace.Seconds(sum.total), sum.n})
	}
	slices.SortStableFunc(s.Stacks, func(a, b SerialStack) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for stack, n := range f.samples {
		at(stack).Samples += n
	}
	for _, l := range by {
		s.Lines = append(s.Lines, *l)
	}
	slices.SortFunc(s.Lines, func(a, b SerialLine) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Samples, a.Samples),
			cmp.Compare(a.Line.File, b.Line.File), cmp.Compare(a.Line.Line, b.Line.Line))
	})
	return s
}

func (f *Fold) tails() TailTime {
	t := TailTime{Regions: f.tail.regions, Parallel: exectrace.Seconds(f.tail.parallel), Lost: exectrace.Seconds(f.tail.wasted)}
	if f.tail.parallel > 0 && f.most > 0 {
		t.Share = float64(f.tail.wasted) / (float64(f.tail.parallel) * float64(f.most))
	}
	by := map[exectrace.Line]*TailLine{}
	for _, stack := range slices.Sorted(maps.Keys(f.tail.sum)) { // sums of floats depend on the order
		sum := f.tail.sum[stack]
		line := f.trace.Blame(stack)
		l := by[line]
		if l == nil {
			l = &TailLine{Line: line}
			by[line] = l
		}
		l.Count += sum.n
		l.Lost += exectrace.Seconds(sum.wasted)
	}
	for _, l := range by {
		t.Lines = append(t.Lines, *l)
	}
	slices.SortFunc(t.Lines, func(a, b TailLine) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Line.File, b.Line.File), cmp.Compare(a.Line.Line, b.Line.Line))
	})
	return t
}

func latency(h *histogram.Histogram) Latency {
	l := Latency{Count: h.Count()}
	if l.Count > 0 {
		l.Total = h.Mean() * float64(l.Count) / 1e9
		l.P50, l.P99, l.Max = exectrace.Seconds(h.Quantile(0.5)), exectrace.Seconds(h.Quantile(0.99)), exectrace.Seconds(h.Max())
	}
	return l
}

// Profile returns the serial time as a pprof profile: the code that ran on one processor only.
func (f *Fold) Profile() (*profile.Profile, error) {
	types := []profile.ValueType{{Type: "stretches", Unit: "count"}, {Type: "serial", Unit: "nanoseconds"}}
	var rows []exectrace.Row
	for stack, s := range f.serial {
		rows = append(rows, exectrace.Row{Stack: stack, Values: []int64{s.n, s.total}})
	}
	slices.SortFunc(rows, func(a, b exectrace.Row) int { return cmp.Compare(a.Stack, b.Stack) })
	return f.trace.Profile(types, rows)
}
