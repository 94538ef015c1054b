package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/load"
)

// Load draws the result of a load without a recording.
func Load(w io.Writer, r *load.Result, s Style) {
	if trouble := r.Outcome().Trouble(); trouble != "" {
		fmt.Fprintf(w, "%s\n\n", s.paintLines(bad, wrap(sentence(trouble), "", s.width())))
	}
	var rows [][]string
	row := func(name string, cells ...string) {
		rows = append(rows, []string{s.paint(faint, name), strings.Join(cells, " · ")})
	}
	elapsed := r.Elapsed.Seconds()
	how := "closed loop"
	if !r.Closed {
		how = group(r.Rate) + "/s scheduled"
	}
	row("requests", group(float64(r.Requests)), "in "+seconds(elapsed), group(r.Throughput())+"/s", how)
	if r.Missed > 0 {
		row("missed", s.paint(bad, group(float64(r.Missed))), "scheduled but not sent or not answered in time")
	}
	if r.Closed {
		row("service time", quantiles(r.Service))
	} else {
		row("latency", quantiles(r.Latency), "from the scheduled time")
		row("service time", quantiles(r.Service))
		row("lag", quantiles(r.Lag), "of the generator itself")
	}
	row("status", counts(r.Status))
	if len(r.Errors) > 0 {
		row("errors", s.paint(bad, counts(r.Errors)))
	}
	row("bytes", size(float64(r.BytesIn))+" in", size(float64(r.BytesOut))+" out")
	if r.Requests > 0 {
		row("generator", seconds(r.CPUSeconds/float64(r.Requests))+" CPU per request", generatorVerdict(r, s))
	}
	for _, line := range table(rows, "  ") {
		fmt.Fprintln(w, line)
	}
	if r.Closed {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap("a closed loop waits for a slow service, so requests that a stall would have delayed were never sent; to measure latencies as users see them, give a -rate", "      ", s.width()))
	}
}

func quantiles(h *histogram.Histogram) string {
	if h == nil || h.Count() == 0 {
		return "none"
	}
	var parts []string
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}} {
		parts = append(parts, q.name+" "+seconds(float64(h.Quantile(q.q))/1e9))
	}
	return strings.Join(append(parts, "max "+seconds(float64(h.Max())/1e9)), " · ")
}

func counts[K ~int | ~string](m map[K]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%v: %s", k, group(float64(m[k]))))
	}
	return strings.Join(parts, ", ")
}

func generatorVerdict(r *load.Result, s Style) string {
	if r.Verdict == load.VerdictOK {
		return "generator OK"
	}
	return s.paint(bad, "generator limited: "+r.VerdictWhy)
}
