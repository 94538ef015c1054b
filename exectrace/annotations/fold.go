package annotations

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// Bounds on what is kept: a program may make a type of its own for each task.
const (
	maxTypes = 200 // a histogram takes 57 KiB
	maxLogs  = 10_000
	maxOpen  = 1 << 20
)

// Fold sums up annotations. The zero value is ready.
type Fold struct {
	trace   *exectrace.Trace
	tasks   map[string]*sum
	regions map[regionKey]*sum
	open    map[uint64]task
	nesting map[uint64][]region // by the goroutine's ID: places are used again
	logs    []Log
	counts  map[string]int64
	lost    int64 // of types or open tasks beyond the bounds
}

type task struct {
	name  string
	begun int64
}

type region struct {
	task  uint64
	name  string
	begun int64
	line  exectrace.Line
}

type regionKey struct {
	name string
	line exectrace.Line
}

type sum struct {
	begun, ended int64
	found        int64 // of the ended: begun before the trace
	hist         *histogram.Histogram
}

// Log is a message.
type Log struct {
	Time     float64        `json:"time_seconds"` // since the trace began
	Task     uint64         `json:"task,omitempty"`
	Category string         `json:"category,omitempty"`
	Message  string         `json:"message"`
	Line     exectrace.Line `json:"line"`
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	if f.trace == nil {
		f.trace = t
		f.tasks, f.regions, f.open = map[string]*sum{}, map[regionKey]*sum{}, map[uint64]task{}
		f.nesting, f.counts = map[uint64][]region{}, map[string]int64{}
	}
	for _, i := range b.Rare {
		switch e := &b.Events[i]; e.Kind {
		case exectrace.TaskBegin:
			f.beginTask(t, e)
		case exectrace.TaskEnd:
			f.endTask(t, e)
		case exectrace.RegionBegin:
			f.beginRegion(t, e)
		case exectrace.RegionEnd:
			f.endRegion(t, e)
		case exectrace.Log:
			f.log(t, e)
		}
	}
}

func (f *Fold) beginTask(t *exectrace.Trace, e *exectrace.Event) {
	a := t.Annotation(e)
	if s := f.taskType(a.Name); s != nil {
		s.begun++
	}
	if len(f.open) >= maxOpen {
		f.lost++
		return
	}
	f.open[a.Task] = task{a.Name, e.Time}
}

func (f *Fold) endTask(t *exectrace.Trace, e *exectrace.Event) {
	a := t.Annotation(e)
	begun, ok := f.open[a.Task]
	if !ok {
		if s := f.taskType(a.Name); s != nil {
			s.found++
		}
		return
	}
	delete(f.open, a.Task)
	if s := f.taskType(begun.name); s != nil {
		s.ended++
		s.hist.Record(e.Time - begun.begun)
	}
}

func (f *Fold) beginRegion(t *exectrace.Trace, e *exectrace.Event) {
	a := t.Annotation(e)
	r := region{a.Task, a.Name, e.Time, t.Blame(e.Stack)}
	if s := f.regionType(regionKey{r.name, r.line}); s != nil {
		s.begun++
	}
	if len(f.nesting) >= maxOpen {
		f.lost++
		return
	}
	id := t.Goroutine(e.G).ID
	f.nesting[id] = append(f.nesting[id], r)
}

// endRegion closes the innermost region of that name: regions nest within a goroutine.
func (f *Fold) endRegion(t *exectrace.Trace, e *exectrace.Event) {
	a := t.Annotation(e)
	id := t.Goroutine(e.G).ID
	stack := f.nesting[id]
	for i := len(stack) - 1; i >= 0; i-- {
		r := stack[i]
		if r.name != a.Name || r.task != a.Task {
			continue
		}
		if s := f.regionType(regionKey{r.name, r.line}); s != nil {
			s.ended++
			s.hist.Record(e.Time - r.begun)
		}
		if stack = stack[:i]; i == 0 {
			delete(f.nesting, id)
		} else {
			f.nesting[id] = stack
		}
		return
	}
	if s := f.regionType(regionKey{a.Name, exectrace.Line{}}); s != nil {
		s.found++
	}
}

func (f *Fold) log(t *exectrace.Trace, e *exectrace.Event) {
	a := t.Annotation(e)
	if _, ok := f.counts[a.Name]; ok || len(f.counts) < maxTypes {
		f.counts[a.Name]++
	} else {
		f.lost++
	}
	if len(f.logs) < maxLogs {
		f.logs = append(f.logs, Log{seconds(e.Time), a.Task, a.Name, a.Text, t.Blame(e.Stack)})
	}
}

func (f *Fold) taskType(name string) *sum   { return sumOf(f, f.tasks, name) }
func (f *Fold) regionType(k regionKey) *sum { return sumOf(f, f.regions, k) }

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

// End counts nothing more: what is open is the difference of begun and ended.
func (f *Fold) End(t *exectrace.Trace) { f.trace = t }

// Result is what the annotations say.
type Result struct {
	Tasks   []Type  `json:"tasks"`
	Regions []Type  `json:"regions"`
	Logs    []Log   `json:"logs,omitempty"` // the first 10,000
	Counts  []Count `json:"log_counts,omitempty"`
	// Lost are events of types, or tasks, beyond the bounds of what is kept.
	Lost int64 `json:"lost,omitempty"`
}

// Type are the tasks or regions of one name; regions of one line too.
type Type struct {
	Name string `json:"name"`
	// Line is where a region begins.
	Line  exectrace.Line `json:"line,omitzero"`
	Count int64          `json:"count"` // begun in the trace, or ended in it
	Open  int64          `json:"open,omitempty"`
	// Found were begun before the trace: their length is not known.
	Found int64 `json:"found,omitempty"`
	// Times in seconds, of those that began and ended in the trace; absent when none did.
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

// Count is how many messages one category has.
type Count struct {
	Category string `json:"category"`
	Count    int64  `json:"count"`
}

// Result sums up.
func (f *Fold) Result() *Result {
	r := &Result{Logs: f.logs, Lost: f.lost}
	for name, s := range f.tasks {
		r.Tasks = append(r.Tasks, s.result(name, exectrace.Line{}))
	}
	for k, s := range f.regions {
		r.Regions = append(r.Regions, s.result(k.name, k.line))
	}
	for name, n := range f.counts {
		r.Counts = append(r.Counts, Count{name, n})
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
		t.Times = &Times{h.Mean() / 1e9, seconds(h.Quantile(0.5)), seconds(h.Quantile(0.9)), seconds(h.Quantile(0.99)), seconds(h.Max())}
	}
	return t
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
