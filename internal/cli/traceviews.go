package cli

import (
	"io"

	"github.com/hone-go/hone/exectrace/wall"
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
	waits := func(v wall.View) func(*run) (*profile.Profile, error) {
		return func(r *run) (*profile.Profile, error) { return r.set.Wall.Profile(v) }
	}
	return []traceView{
		{
			name:   "summary",
			result: func(r *run) any { return r.set.Summary() },
			draw:   func(w io.Writer, r *run, p page, s how) { render.TraceSummary(w, r.set.Summary(), p, s) },
		},
		{
			name:    "requests",
			result:  func(r *run) any { return r.set.Requests.Result() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceRequests(w, r.set.Requests.Result(), p, s) },
			profile: func(r *run) (*profile.Profile, error) { return r.set.Requests.Profile() },
		},
		{
			name:    "cpu",
			result:  func(r *run) any { return r.set.Requests.CPU() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceCPU(w, r.set.Requests.CPU(), p, s) },
			profile: func(r *run) (*profile.Profile, error) { return r.set.Requests.CPUProfile() },
		},
		{
			name:    "goroutines",
			result:  func(r *run) any { return r.set.Wall.Goroutines() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceGoroutines(w, r.set.Wall.Goroutines(), p, s) },
			profile: waits(wall.Starts),
		},
		{
			name:    "blocking",
			result:  func(r *run) any { return r.set.Wall.Blocking() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceBlocking(w, r.set.Wall.Blocking(), p, s) },
			profile: waits(wall.OffCPU),
		},
		{
			name:    "wakers",
			result:  func(r *run) any { return r.set.Wall.Blocking() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceBlocking(w, r.set.Wall.Blocking(), p, s) },
			profile: waits(wall.Wakers),
		},
		{
			name:   "sched",
			result: func(r *run) any { return r.set.Wall.Sched() },
			draw: func(w io.Writer, r *run, p page, s how) {
				render.TraceSched(w, r.set.Wall.Sched(), r.set.Parallelism.Result(), p, s)
			},
			profile: waits(wall.Latency),
		},
		{
			name:    "syscalls",
			result:  func(r *run) any { return r.set.Wall.Syscalls() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceSyscalls(w, r.set.Wall.Syscalls(), p, s) },
			profile: waits(wall.Calls),
		},
		{
			name:   "parallelism",
			result: func(r *run) any { return r.set.Parallelism.Result() },
			draw: func(w io.Writer, r *run, p page, s how) {
				render.TraceParallelism(w, r.set.Parallelism.Result(), p, s)
			},
			profile: func(r *run) (*profile.Profile, error) { return r.set.Parallelism.Profile() },
		},
		{
			name:    "gc",
			result:  func(r *run) any { return r.set.Collector.Result() },
			draw:    func(w io.Writer, r *run, p page, s how) { render.TraceGC(w, r.set.Collector.Result(), p, s) },
			profile: func(r *run) (*profile.Profile, error) { return r.set.Collector.Profile() },
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
	}
}
