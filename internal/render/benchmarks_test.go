package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
)

// Benchmarks of very different lengths get one row each, and no figure is pooled.
func TestHeaderHasARowPerBenchmark(t *testing.T) {
	b, o, none := 1504.0, 46.0, 0.0
	report := &diagnose.Report{Resources: diagnose.Resources{Limiting: "latency", Cores: 1.05, Benchmarks: []diagnose.Benchmark{
		{Name: "Leftpad-2", Runs: 4, Seconds: 2.9e-6, Shortest: 2.7e-6, Longest: 3.4e-6, Bytes: &b, Objects: &o},
		{Name: "Handler/get-2", Runs: 4, Seconds: 138e-6, Shortest: 137e-6, Longest: 141e-6, Bytes: &none, Objects: &none},
	}}}
	page := FindingsPage{Report: report, Manifest: recording.Manifest{Target: recording.Target{Kind: "bench", Bench: ".", Arg: "./x"}}}
	var out bytes.Buffer
	header(&out, page, Style{Width: 100})
	want := "" +
		"  an operation  Leftpad-2      2.90 µs  1.47 KiB  46 allocs  4 runs, 2.70 µs to 3.40 µs\n" +
		"                Handler/get-2   138 µs       0 B   0 allocs  4 runs, 137 µs to 141 µs\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("got\n%swant in it\n%s", out.String(), want)
	}
	for _, no := range []string{"per operation", "is the limit"} { // pooled figures; the harness runs one operation at a time
		if strings.Contains(out.String(), no) {
			t.Errorf("%q in\n%s", no, out.String())
		}
	}
}

func TestHeaderCountsTheBenchmarksItLeavesOut(t *testing.T) {
	lines := benchmarks(make([]diagnose.Benchmark, mostBenchmarks+3))
	if n := len(lines); n != mostBenchmarks+1 || !strings.HasPrefix(lines[n-1], "and 3 more") {
		t.Errorf("%d lines, the last %q", n, lines[n-1])
	}
}
