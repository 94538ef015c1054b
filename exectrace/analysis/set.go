package analysis

import (
	"context"
	"io"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/annotations"
	"github.com/hone-go/hone/exectrace/gc"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
)

// Set is all analyses of one trace. Pass Folds to [exectrace.Read], and the Trace that it returns
// to Done.
type Set struct {
	Wall        wall.Fold
	Parallelism parallelism.Fold
	GC          gc.Fold
	Annotations annotations.Fold
	Requests    *requests.Fold

	trace *exectrace.Trace
}

// New returns a Set.
func New(opt requests.Options) *Set { return &Set{Requests: requests.New(opt)} }

// Folds returns its analyses.
func (s *Set) Folds() []exectrace.Fold {
	return []exectrace.Fold{&s.Wall, &s.Parallelism, &s.GC, &s.Annotations, s.Requests}
}

// Done sets the trace after it was read.
func (s *Set) Done(t *exectrace.Trace) { s.trace = t }

// Summary is the most important figures, and what stands out.
type Summary struct {
	Schema      string  `json:"schema"`
	Source      string  `json:"source,omitempty"`
	Go          string  `json:"go"` // the version of the trace format: "1.26"
	Start       string  `json:"start,omitempty"`
	Length      float64 `json:"length_seconds"`
	Bytes       int64   `json:"bytes"`
	Events      int64   `json:"events"`
	EventRate   float64 `json:"events_per_second"`
	Generations int     `json:"generations"`
	Goroutines  int64   `json:"goroutines"`
	Procs       int     `json:"gomaxprocs"`
	CPUSamples  int64   `json:"cpu_samples"`

	MeanRunning float64 `json:"mean_running"` // goroutines of the program that run at one time
	MeanBusy    float64 `json:"mean_busy"`    // processors that run goroutines at one time

	Total []wall.Part `json:"goroutine_time"` // of all goroutines, including the runtime's

	GCs      int64   `json:"gc_cycles"`
	GCShare  float64 `json:"gc_share"` // of the time, with a garbage collection in progress
	Assist   float64 `json:"gc_assist_seconds"`
	Assisted float64 `json:"gc_assist_running_seconds"` // the part of it on a processor
	Stopped  float64 `json:"stopped_seconds"`           // the world was stopped
	LongStop float64 `json:"longest_stop_seconds"`

	Requests *Requests `json:"requests,omitempty"`

	Remarks []Remark `json:"remarks"`
}

// Summary returns the summary of the results.
func (s *Set) Summary() *Summary { return s.Results().Summary() }

// Summary returns the summary of the results.
func (r *Results) Summary() *Summary {
	info, p, gc := r.Info, r.Parallelism, r.GC
	out := &Summary{
		Schema: "hone/trace/summary/v1",
		Go:     goVersion(info.Version), Length: info.Length.Seconds(), Bytes: info.Bytes,
		Events: info.Events, Generations: info.Generations, Goroutines: info.Goroutines,
		Procs: info.Procs, CPUSamples: info.CPUSamples, MeanRunning: p.MeanRunning, MeanBusy: p.MeanBusy,
		Total: r.Goroutines.Total, GCs: gc.Cycles, GCShare: gc.Share, Assist: gc.Assists.Seconds, Assisted: gc.Assists.Running,
		Requests: r.requests(), Remarks: r.Remarks,
	}
	if !info.Start.IsZero() {
		out.Start = info.Start.Format(time.RFC3339Nano)
	}
	if out.Length > 0 {
		out.EventRate = float64(info.Events) / out.Length
	}
	for _, st := range gc.Stops {
		out.Stopped += st.Seconds
		out.LongStop = max(out.LongStop, st.Max)
	}
	return out
}

// Read runs all analyses over a trace. If the trace is damaged and the part before the damage was
// analysed, cut describes the damage; it is nil for an intact trace.
func Read(ctx context.Context, r io.Reader, opt requests.Options) (set *Set, cut *exectrace.Broken, err error) {
	set = New(opt)
	t, err := exectrace.Read(ctx, r, exectrace.Options{}, set.Folds()...)
	if cut, err = exectrace.Usable(t, err); err != nil {
		return nil, nil, err
	}
	set.Done(t)
	return set, cut, nil
}
