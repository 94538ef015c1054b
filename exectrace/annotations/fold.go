package annotations

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// Bounds on what is kept: a program may use a new type for each task.
const (
	maxTypes = 200 // a histogram takes 57 KiB
	maxLogs  = 10_000
)

// Fold sums up annotations. The zero value is ready.
type Fold struct {
	trace   *exectrace.Trace
	tasks   map[string]*sum
	regions map[regionKey]*sum
	// The same sums, and counts, by the IDs of names and stacks, for speed: hashing words would
	// take most of the time.
	tasksByID      []*sum
	regionsByStack []numbered
	countsByID     []*int64

	taskPlaces, regionPlaces, logPlaces places

	logs   []Log
	counts map[string]*int64
	lost   int64 // events of types, and ends of tasks, beyond the bounds
}

// numbered is the sum of the regions with one name that start at one stack.
type numbered struct {
	name uint32
	sum  *sum
}

type regionKey struct {
	name string
	line exectrace.Line
}

type sum struct {
	begun, ended int64
	found        int64 // ended, but started before the trace
	hist         *histogram.Histogram
}

// Log is a message.
type Log struct {
	Time     float64        `json:"time_seconds"` // since the start of the trace
	Task     uint64         `json:"task,omitempty"`
	Category string         `json:"category,omitempty"`
	Message  string         `json:"message"`
	Line     exectrace.Line `json:"line"`
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	if f.trace == nil {
		f.trace = t
		f.tasks, f.regions = map[string]*sum{}, map[regionKey]*sum{}
		f.counts = map[string]*int64{}
	}
	for _, i := range b.Rare {
		switch e := &b.Events[i]; e.Kind {
		case exectrace.TaskBegin:
			if s := f.taskType(t, e); s != nil {
				s.begun++
			}
		case exectrace.TaskEnd:
			f.endTask(t, e)
		case exectrace.RegionBegin:
			if s := f.regionType(t, e, e.Stack); s != nil {
				s.begun++
			}
		case exectrace.RegionEnd:
			f.endRegion(t, e)
		case exectrace.Log:
			f.log(t, e)
		}
	}
}

// endTask takes the end of a task. The end has no name if the trace has more names than get an ID:
// it counts as lost then.
func (f *Fold) endTask(t *exectrace.Trace, e *exectrace.Event) {
	s := f.taskType(t, e)
	switch {
	case s == nil:
	case t.Begun(e) && s.ended == s.begun:
		f.lost++
	default:
		s.end(t, e)
	}
	if t.Begun(e) {
		f.taskPlaces.add(t, e, e.Left, e.Time-e.Since)
	}
}

// endRegion takes the end of a region. The line of a region that started before the trace is
// unknown.
func (f *Fold) endRegion(t *exectrace.Trace, e *exectrace.Event) {
	var s *sum
	if t.Begun(e) {
		s = f.regionType(t, e, e.Left)
		f.regionPlaces.add(t, e, e.Left, e.Time-e.Since)
	} else {
		s = sumOf(f, f.regions, regionKey{t.Annotation(e).Name, exectrace.Line{}})
	}
	if s != nil {
		s.end(t, e)
	}
}

func (s *sum) end(t *exectrace.Trace, e *exectrace.Event) {
	if !t.Begun(e) {
		s.found++
		return
	}
	s.ended++
	s.hist.Record(e.Time - e.Since)
}

func (f *Fold) log(t *exectrace.Trace, e *exectrace.Event) {
	f.logPlaces.add(t, e, e.Stack, 0)
	if n := f.count(t, e); n != nil {
		*n++
	} else {
		f.lost++
	}
	if f.logs == nil {
		f.logs = make([]Log, 0, maxLogs) // unused memory costs nothing; growing the slice would cost four times as much
	}
	if len(f.logs) < maxLogs {
		f.logs = append(f.logs, Log{exectrace.Seconds(e.Time), e.Value, t.Annotation(e).Name, t.Message(e), t.Blame(e.Stack)})
	}
}

// count returns the counter of a log's category, nil when there are too many categories.
func (f *Fold) count(t *exectrace.Trace, e *exectrace.Event) *int64 {
	id := t.Label(e)
	if int64(id) < int64(len(f.countsByID)) && f.countsByID[id] != nil {
		return f.countsByID[id]
	}
	name := t.Annotation(e).Name
	n := f.counts[name]
	if n == nil {
		if len(f.counts) >= maxTypes {
			return nil
		}
		n = new(int64)
		f.counts[name] = n
	}
	if id != 0 {
		f.countsByID = at(f.countsByID, id)
		f.countsByID[id] = n
	}
	return n
}

// taskType returns the sum of the tasks with an event's name.
func (f *Fold) taskType(t *exectrace.Trace, e *exectrace.Event) *sum {
	id := t.Label(e)
	if int64(id) < int64(len(f.tasksByID)) && f.tasksByID[id] != nil {
		return f.tasksByID[id]
	}
	s := sumOf(f, f.tasks, t.Annotation(e).Name)
	if s != nil && id != 0 {
		f.tasksByID = at(f.tasksByID, id)
		f.tasksByID[id] = s
	}
	return s
}

// regionType returns the sum of the regions with an event's name that start at a line.
func (f *Fold) regionType(t *exectrace.Trace, e *exectrace.Event, stack exectrace.StackID) *sum {
	id := t.Label(e)
	if int64(stack) < int64(len(f.regionsByStack)) {
		if n := f.regionsByStack[stack]; n.sum != nil && n.name == id {
			return n.sum
		}
	}
	s := sumOf(f, f.regions, regionKey{t.Annotation(e).Name, t.Blame(stack)})
	if s != nil && id != 0 {
		f.regionsByStack = at(f.regionsByStack, uint32(stack))
		f.regionsByStack[stack] = numbered{id, s}
	}
	return s
}

// at returns a slice that has an element i.
func at[T any](s []T, i uint32) []T {
	for int64(i) >= int64(len(s)) {
		s = append(s, make([]T, max(64, len(s)))...)
	}
	return s
}

// sumOf returns the sum of a type, nil when there are too many types.
func sumOf[K comparable](f *Fold, m map[K]*sum, k K) *sum {
	s := m[k]
	if s == nil {
		if len(m) >= maxTypes {
			f.lost++
			return nil
		}
		s = &sum{hist: histogram.New()}
		m[k] = s
	}
	return s
}

// End counts nothing: what is still open is the difference between started and ended.
func (f *Fold) End(t *exectrace.Trace) { f.trace = t }

// Result is the sums of the annotations.
type Result struct {
	Tasks   []Type  `json:"tasks"`
	Regions []Type  `json:"regions"`
	Logs    []Log   `json:"logs,omitempty"` // the first 10,000
	Counts  []Count `json:"log_counts,omitempty"`
	// Lost is the number of events of types, and of ends of tasks, beyond the bounds on what is
	// kept.
	Lost int64 `json:"lost,omitempty"`
}

// Type is the tasks or regions with one name; regions also have one line.
type Type struct {
	Name string `json:"name"`
	// Line is where the regions start.
	Line  exectrace.Line `json:"line,omitzero"`
	Count int64          `json:"count"` // started in the trace, or ended in it
	Open  int64          `json:"open,omitempty"`
	// Found is the number that started before the trace: their length is unknown.
	Found int64 `json:"found,omitempty"`
	// Times are in seconds, of those that started and ended in the trace; absent when there are
	// none.
	Times *Times `json:"times,omitempty"`
}

// Times are quantiles, in seconds.
type Times struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// Count is the number of messages of one category.
type Count struct {
	Category string `json:"category"`
	Count    int64  `json:"count"`
}

// Result returns the sums.
func (f *Fold) Result() *Result {
	r := &Result{Logs: f.logs, Lost: f.lost}
	for name, s := range f.tasks {
		r.Tasks = append(r.Tasks, s.result(name, exectrace.Line{}))
	}
	for k, s := range f.regions {
		r.Regions = append(r.Regions, s.result(k.name, k.line))
	}
	for name, n := range f.counts {
		r.Counts = append(r.Counts, Count{name, *n})
	}
	slices.SortFunc(r.Tasks, byCount)
	slices.SortFunc(r.Regions, byCount)
	slices.SortFunc(r.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Category, b.Category))
	})
	return r
}

func byCount(a, b Type) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line.String(), b.Line.String()))
}

func (s *sum) result(name string, line exectrace.Line) Type {
	t := Type{Name: name, Line: line, Count: s.begun + s.found, Open: s.begun - s.ended, Found: s.found}
	if h := s.hist; h.Count() > 0 {
		t.Times = &Times{h.Mean() / 1e9, exectrace.Seconds(h.Quantile(0.5)), exectrace.Seconds(h.Quantile(0.9)), exectrace.Seconds(h.Quantile(0.99)), exectrace.Seconds(h.Max())}
	}
	return t
}
