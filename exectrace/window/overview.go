package window

import (
	"context"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/timeline"
)

// Overview is what happened in an interval of a trace, in columns of equal width. Times are in
// nanoseconds since the trace's first event.
type Overview struct {
	Schema string `json:"schema"`
	Source string `json:"source,omitempty"`
	Length int64  `json:"length_ns"` // of the whole trace
	From   int64  `json:"from_ns"`
	To     int64  `json:"to_ns"`
	Step   int64  `json:"step_ns"` // width of a column; the last may extend beyond To
	// Exact says that the columns are computed from the events. Otherwise they are the columns of
	// the index, which are Step wide and may not start exactly at From.
	Exact bool `json:"exact"`
	Procs int  `json:"gomaxprocs"`

	// The number of goroutines in each state at one time: the mean over a column.
	Running  []float64 `json:"running"`
	Runnable []float64 `json:"runnable"`
	Syscall  []float64 `json:"syscall"`
	Waiting  []float64 `json:"waiting"`
	// Totals are the seconds of all goroutines in these states in the interval.
	Totals Totals `json:"totals"`

	GC      []float64 `json:"gc"`      // share of the column with a garbage collection in progress
	Stopped []float64 `json:"stopped"` // share with the world stopped
	Heap    []int64   `json:"heap"`    // bytes live and not yet swept, at the end of the column; -1 if unknown
	Goal    []int64   `json:"goal"`

	Processors [][]float64 `json:"processors"` // share of the column in which goroutines ran, by processor
	Groups     []Group     `json:"groups"`     // goroutines by the function that they were started with, most running time first

	// Requests are those that ended in the interval; absent if none was found in the trace.
	Requests *Requests `json:"requests,omitempty"`

	// Lanes are the individual spans, if the interval is short enough.
	Lanes *timeline.Result `json:"lanes,omitempty"`
}

// Totals are seconds of goroutines, by state.
type Totals struct {
	Running  float64 `json:"running_seconds"`
	Runnable float64 `json:"runnable_seconds"`
	Syscall  float64 `json:"syscall_seconds"`
	Waiting  float64 `json:"waiting_seconds"`
	GC       float64 `json:"gc_seconds"`
	Stopped  float64 `json:"stopped_seconds"`
}

// Group is the goroutines that were started with one function.
type Group struct {
	Name    string    `json:"name"`
	Seconds float64   `json:"running_seconds"`
	Running []float64 `json:"running"` // at one time
}

// Schema is the name and version of an Overview's JSON.
const Schema = "hone/trace/overview/v1"

// Bounds on the columns of an overview.
const (
	defaultColumns = 400
	mostColumns    = 2000
)

// Overview returns what happened in an interval; to 0 is the trace's end. columns is the maximum
// number of columns; 0 is 400.
func (x *Index) Overview(ctx context.Context, from, to int64, columns int) (*Overview, error) {
	from, to, err := x.clip(from, to)
	if err != nil {
		return nil, err
	}
	if columns <= 0 {
		columns = defaultColumns
	}
	columns = min(columns, mostColumns, int(min(to-from, mostColumns)))
	first, last, bytes := x.covering(from, to)
	if bytes > mostRead {
		return x.coarse(from, to, columns), nil
	}
	o := x.options(first, from, to)
	o.Columns = columns
	f := New(o)
	folds := []exectrace.Fold{f}
	var lanes *timeline.Fold
	if bytes <= mostLanes {
		lanes = timeline.New(timeline.Options{From: max(0, from-o.Shift), To: to - o.Shift, MaxSpans: mostSpans})
		folds = append(folds, lanes)
	}
	if _, err := x.read(ctx, first, last, folds...); err != nil {
		return nil, err
	}
	out := f.curves.overview(0, columns, 1)
	out.From, out.To, out.Exact = from, to, true
	if lanes != nil {
		out.Lanes = x.lanes(lanes.Result(), o.Shift, first)
	}
	return x.complete(out), nil
}

// coarse returns an Overview computed from the index's columns.
func (x *Index) coarse(from, to int64, columns int) *Overview {
	c := x.fold.curves
	a, b := int(from/c.step), int(min((to+c.step-1)/c.step, int64(c.n)))
	by := max(1, (b-a+columns-1)/columns)
	out := c.overview(a, b, by)
	out.From, out.To = int64(a)*c.step, min(int64(b)*c.step, x.end)
	return x.complete(out)
}

func (x *Index) complete(o *Overview) *Overview {
	o.Schema, o.Length = Schema, x.end
	o.Procs = x.trace.Info().Procs
	o.Requests = x.ended(o.From, o.To, o.Step, len(o.Running))
	return o
}

// overview returns the columns from a to b, merging by of them into one.
func (c *curves) overview(a, b, by int) *Overview {
	step := c.step * int64(by)
	o := &Overview{Step: step}
	end := c.to
	if c.endedAt > 0 {
		end = min(end, c.endedAt)
	}
	mean := func(l *level) (out []float64, total float64) {
		out = make([]float64, 0, (b-a+by-1)/by)
		for i := a; i < b; i += by {
			var sum int64
			for j := i; j < min(i+by, b) && l.area != nil; j++ {
				sum += l.area[j]
			}
			from := c.from + int64(i)*c.step
			width := min(from+step, end) - from
			if width <= 0 {
				out = append(out, 0)
				continue
			}
			total += float64(sum) / 1e9
			out = append(out, round(float64(sum)/float64(width)))
		}
		return out, total
	}
	o.Running, o.Totals.Running = mean(&c.states[exectrace.Running])
	o.Runnable, o.Totals.Runnable = mean(&c.states[exectrace.Runnable])
	o.Syscall, o.Totals.Syscall = mean(&c.states[exectrace.Syscall])
	o.Waiting, o.Totals.Waiting = mean(&c.states[exectrace.Waiting])
	o.GC, o.Totals.GC = mean(&c.gc)
	o.Stopped, o.Totals.Stopped = mean(&c.stw)
	o.Heap, o.Goal = lasts(c.heap, a, b, by), lasts(c.goal, a, b, by)
	for _, p := range c.procs {
		v, _ := mean(p)
		o.Processors = append(o.Processors, v)
	}
	for i, g := range c.groups {
		v, total := mean(g)
		if total > 0 {
			o.Groups = append(o.Groups, Group{c.names[i], total, v})
		}
	}
	sortGroups(o.Groups)
	return o
}

// lasts returns the last known value of each column. Before the first one, it is the value known
// before a.
func lasts(v []int64, a, b, by int) []int64 {
	now := int64(-1)
	for i := a - 1; i >= 0 && now < 0; i-- {
		now = v[i]
	}
	var out []int64
	for i := a; i < b; i += by {
		for j := i; j < min(i+by, b); j++ {
			if v[j] >= 0 {
				now = v[j]
			}
		}
		out = append(out, now)
	}
	return out
}
