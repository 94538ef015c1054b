package render

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
)

// recordedTrace returns the analyses of a trace that was recorded once.
func recordedTrace(t *testing.T, more ...exectrace.Fold) *analysis.Set {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "exectrace", "testdata", "go1.25.1.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set := analysis.New(requests.Options{Slowest: 3, Paths: true})
	read, err := exectrace.Read(t.Context(), f, exectrace.Options{}, append(more, set.Folds()...)...)
	if err != nil {
		t.Fatal(err)
	}
	set.Done(read)
	return set
}

func TestTracePages(t *testing.T) {
	set := recordedTrace(t)
	page := TracePage{Source: "trace.out", Notes: []string{"execution trace is broken in generation 3"}}
	slow := &set.Requests.Result().Slowest[0]
	sampled := &requests.CPU{Samples: 843, Outside: 540, Routes: []requests.CPURoute{
		{Name: "main.(*tracedService).ServeHTTP", Protocol: requests.HTTP1, Samples: 295, Share: 295.0 / 843, PerRequest: 295.0 / 162363},
		{Protocol: requests.HTTP2, Samples: 8, Share: 8.0 / 843, PerRequest: 4},
	}}
	for name, draw := range map[string]func(io.Writer, Style){
		"summary":     func(w io.Writer, s Style) { TraceSummary(w, set.Summary(), page, s) },
		"goroutines":  func(w io.Writer, s Style) { TraceGoroutines(w, set.Wall.Goroutines(), page, s) },
		"blocking":    func(w io.Writer, s Style) { TraceBlocking(w, set.Wall.Blocking(), page, s) },
		"wakers":      func(w io.Writer, s Style) { TraceWakers(w, set.Wall.Wakings(), page, s) },
		"syscalls":    func(w io.Writer, s Style) { TraceSyscalls(w, set.Wall.Syscalls(), page, s) },
		"sched":       func(w io.Writer, s Style) { TraceSched(w, set.Wall.Sched(), set.Parallelism.Result(), page, s) },
		"parallelism": func(w io.Writer, s Style) { TraceParallelism(w, set.Parallelism.Result(), page, s) },
		"gc":          func(w io.Writer, s Style) { TraceGC(w, set.GC.Result(), page, s) },
		"tasks":       func(w io.Writer, s Style) { TraceTypes(w, "tasks", set.Annotations.Result().Tasks, page, s) },
		"regions":     func(w io.Writer, s Style) { TraceTypes(w, "regions", set.Annotations.Result().Regions, page, s) },
		"logs": func(w io.Writer, s Style) {
			TraceLogs(w, set.Annotations.Result(), TracePage{Source: "trace.out", Top: 3}, s)
		},
		"requests": func(w io.Writer, s Style) { TraceRequests(w, set.Requests.Result(), page, s) },
		"critical": func(w io.Writer, s Style) { TraceCritical(w, slow, slow.Path, page, s) },
		"cpu":      func(w io.Writer, s Style) { TraceCPU(w, sampled, page, s) },
		"cpu_none": func(w io.Writer, s Style) { TraceCPU(w, set.Requests.CPU(), page, s) },
	} {
		var plain, colour bytes.Buffer
		draw(&plain, Style{})
		golden(t, "trace_"+name+".golden", plain.Bytes())
		draw(&colour, Style{Color: true})
		if got := stripEscapes(colour.Bytes()); !bytes.Equal(got, plain.Bytes()) {
			t.Errorf("%s: coloured page without its colours:\n%s", name, got)
		}
	}
}

func TestTraceEventsAsTextAndJSON(t *testing.T) {
	for name, asJSON := range map[string]bool{"trace_events.golden": false, "trace_events.json.golden": true} {
		var b bytes.Buffer
		out := NewTraceEvents(&b, EventFilter{From: 500e6, Count: 20}, asJSON)
		recordedTrace(t, out)
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestTraceJSONSaysWhatItIs(t *testing.T) {
	set := recordedTrace(t)
	var b bytes.Buffer
	if err := TraceJSON(&b, "syscalls", TracePage{Source: "trace.out", Notes: []string{"cut off"}}, set.Wall.Syscalls()); err != nil {
		t.Fatal(err)
	}
	golden(t, "trace_syscalls.json.golden", b.Bytes())

	b.Reset()
	if err := TraceJSON(&b, "requests", TracePage{Source: "trace.out"}, set.Requests.Result()); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b.Bytes(), []byte(`"schema"`)); n != 1 {
		t.Errorf("%d schemas in\n%.200s", n, b.Bytes())
	}
}
