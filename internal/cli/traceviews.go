package cli

import (
	"io"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/traceview"
)

// traceViews lists the views of hone trace; the first is the default.
func traceViews() []traceView {
	type (
		report = traceview.Report
		page   = render.TracePage
		style  = render.Style
	)
	return []traceView{
		{name: "summary", show: func(r *report) (any, pageOf, error) {
			v := r.Summary()
			return v, func(w io.Writer, p page, s style) { render.TraceSummary(w, v, p, s) }, nil
		}},
		{name: "requests", show: func(r *report) (any, pageOf, error) {
			v := r.Requests.Result().WithoutPaths()
			return v, func(w io.Writer, p page, s style) { render.TraceRequests(w, v, p, s) }, nil
		}},
		{name: "critical", show: func(r *report) (any, pageOf, error) {
			v, err := r.CriticalPath()
			return v, func(w io.Writer, p page, s style) { render.TraceCritical(w, v.Request, v.Path, p, s) }, err
		}},
		{name: "cpu", show: func(r *report) (any, pageOf, error) {
			v := r.Requests.CPU()
			return v, func(w io.Writer, p page, s style) { render.TraceCPU(w, v, p, s) }, nil
		}},
		{name: "goroutines", show: func(r *report) (any, pageOf, error) {
			v := r.Wall.Goroutines()
			return v, func(w io.Writer, p page, s style) { render.TraceGoroutines(w, v, p, s) }, nil
		}},
		{name: "blocking", show: func(r *report) (any, pageOf, error) {
			v := r.Wall.Blocking()
			return v, func(w io.Writer, p page, s style) { render.TraceBlocking(w, v, p, s) }, nil
		}},
		{name: "wakers", show: func(r *report) (any, pageOf, error) {
			v := r.Wall.Wakings()
			return v, func(w io.Writer, p page, s style) { render.TraceWakers(w, v, p, s) }, nil
		}},
		{name: "sched", show: func(r *report) (any, pageOf, error) {
			v := r.Wall.Sched()
			return v, func(w io.Writer, p page, s style) { render.TraceSched(w, v, r.Parallelism.Result(), p, s) }, nil
		}},
		{name: "syscalls", show: func(r *report) (any, pageOf, error) {
			v := r.Wall.Syscalls()
			return v, func(w io.Writer, p page, s style) { render.TraceSyscalls(w, v, p, s) }, nil
		}},
		{name: "parallelism", show: func(r *report) (any, pageOf, error) {
			v := r.Parallelism.Result()
			return v, func(w io.Writer, p page, s style) { render.TraceParallelism(w, v, p, s) }, nil
		}},
		{name: "gc", show: func(r *report) (any, pageOf, error) {
			v := r.GC.Result()
			return v, func(w io.Writer, p page, s style) { render.TraceGC(w, v, p, s) }, nil
		}},
		{name: "tasks", show: func(r *report) (any, pageOf, error) {
			v := r.Annotations.Result()
			return v, func(w io.Writer, p page, s style) { render.TraceTypes(w, "tasks", v.Tasks, p, s) }, nil
		}},
		{name: "regions", show: func(r *report) (any, pageOf, error) {
			v := r.Annotations.Result()
			return v, func(w io.Writer, p page, s style) { render.TraceTypes(w, "regions", v.Regions, p, s) }, nil
		}},
		{name: "logs", show: func(r *report) (any, pageOf, error) {
			v := r.Annotations.Result()
			return v, func(w io.Writer, p page, s style) { render.TraceLogs(w, v, p, s) }, nil
		}},
		{name: "overview", own: (*traceFlags).overview},
		{name: "timeline", own: (*traceFlags).timeline, writes: true},
		{name: "cut", own: (*traceFlags).cut, writes: true},
		{name: "anonymize", own: (*traceFlags).anonymize, writes: true},
		{name: "events", own: (*traceFlags).printEvents},
	}
}
