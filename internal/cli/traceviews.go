package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile"
)

// traceViews lists the views of hone trace; the first is the default.
func traceViews() []traceView {
	type (
		run  = traceRun
		page = render.TracePage
		how  = render.Style
	)
	return []traceView{
		{
			name:   "summary",
			result: func(r *run) any { return r.set.Summary() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceSummary(w, r.set.Summary(), p, s) },
		},
		{
			name:   "requests",
			result: func(r *run) any { return r.set.Requests.Result() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceRequests(w, r.set.Requests.Result(), p, s) },
		},
		{
			name:   "critical",
			check:  criticalFound,
			result: func(r *run) any { q, path := r.critical(); return criticalPath{q, path} },
			draw: func(w io.Writer, r *run, p page, s how) {
				q, path := r.critical()
				render.TraceCritical(w, q, path, p, s)
			},
		},
		{
			name:   "cpu",
			result: func(r *run) any { return r.set.Requests.CPU() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceCPU(w, r.set.Requests.CPU(), p, s) },
		},
		{
			name:   "goroutines",
			result: func(r *run) any { return r.set.Wall.Goroutines() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceGoroutines(w, r.set.Wall.Goroutines(), p, s) },
		},
		{
			name:   "blocking",
			result: func(r *run) any { return r.set.Wall.Blocking() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceBlocking(w, r.set.Wall.Blocking(), p, s) },
		},
		{
			name:   "wakers",
			result: func(r *run) any { return r.set.Wall.Wakings() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceWakers(w, r.set.Wall.Wakings(), p, s) },
		},
		{
			name:   "sched",
			result: func(r *run) any { return r.set.Wall.Sched() },
			draw: func(w io.Writer, r *run, p page, s how) {
				render.TraceSched(w, r.set.Wall.Sched(), r.set.Parallelism.Result(), p, s)
			},
		},
		{
			name:   "syscalls",
			result: func(r *run) any { return r.set.Wall.Syscalls() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceSyscalls(w, r.set.Wall.Syscalls(), p, s) },
		},
		{
			name:   "parallelism",
			result: func(r *run) any { return r.set.Parallelism.Result() },
			draw: func(w io.Writer, r *run, p page, s how) {
				render.TraceParallelism(w, r.set.Parallelism.Result(), p, s)
			},
		},
		{
			name:   "gc",
			result: func(r *run) any { return r.set.Collector.Result() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceGC(w, r.set.Collector.Result(), p, s) },
		},
		{
			name:   "tasks",
			result: func(r *run) any { return r.set.Annotations.Result() },
			draw: func(w io.Writer, r *run, p page, s how) {
				render.TraceTypes(w, "tasks", r.set.Annotations.Result().Tasks, p, s)
			},
		},
		{
			name:   "regions",
			result: func(r *run) any { return r.set.Annotations.Result() },
			draw: func(w io.Writer, r *run, p page, s how) {
				render.TraceTypes(w, "regions", r.set.Annotations.Result().Regions, p, s)
			},
		},
		{
			name:   "logs",
			result: func(r *run) any { return r.set.Annotations.Result() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceLogs(w, r.set.Annotations.Result(), p, s) },
		},
		{name: "timeline", own: (*traceFlags).timeline, writes: true},
		{name: "cut", own: (*traceFlags).cut, writes: true},
		{name: "anonymize", own: (*traceFlags).anonymize, writes: true},
		{name: "events", own: (*traceFlags).printEvents},
	}
}

// criticalPath is the JSON of hone trace critical.
type criticalPath struct {
	Request *requests.Request `json:"request,omitempty"` // absent for the whole run
	Path    *requests.Path    `json:"path"`
}

// critical is the path that the flags ask for: nil when there is none.
func (r *traceRun) critical() (*requests.Request, *requests.Path) {
	if r.flags.whole {
		return nil, r.set.Requests.RunPath()
	}
	res := r.set.Requests.Result()
	for i := range res.Slowest {
		q := &res.Slowest[i]
		if r.flags.request == 0 || q.ID == r.flags.request {
			kept := *q
			kept.Path = nil // it stands beside it
			return &kept, cmp.Or(r.path, q.Path)
		}
	}
	return nil, nil
}

// profile is a view as a pprof profile; see analysis.Profiles.
func (r *traceRun) profile(view string) (*profile.Profile, error) {
	if view == "critical" {
		_, path := r.critical()
		return r.set.Requests.PathProfile(path)
	}
	return r.set.Profile(view)
}

// criticalFound says why there is no path to show.
func criticalFound(r *traceRun) error {
	_, path := r.critical()
	switch res := r.set.Requests.Result(); {
	case path != nil:
		return nil
	case r.flags.whole:
		return errors.New("the trace has no path: nothing ran in it")
	case res.All == nil:
		return errors.New("no request started and finished in this trace; -run shows the path of the whole run")
	case r.flags.request != 0:
		return fmt.Errorf("request %d is not among the %d slowest, of which the paths are kept; -slowest N keeps more", r.flags.request, len(res.Slowest))
	}
	return errors.New("no path was kept")
}
