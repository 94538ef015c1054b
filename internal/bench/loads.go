package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/load"
)

// LoadRun is the result of one run of the load generator.
type LoadRun struct {
	Name string // name of its file
	*load.Report
}

// loadSeries is the name of the only benchmark in a comparison of load results.
const loadSeries = "load"

// leastLoads is the number of runs per side that shows a change of one metric among a handful at
// the false discovery rate.
const leastLoads = 6

// CompareLoads compares load results, several runs per side. A run is one sample of each of its
// quantiles. Without force, it refuses to compare runs under different loads. Latencies get no
// verdict if the load generator was the limit or the sides ran one after the other.
func CompareLoads(old, new []LoadRun, force bool) (*Result, error) {
	sides := [2][]LoadRun{old, new}
	r := &Result{Schema: Schema, Files: &Files{}, Benchmarks: []Benchmark{}}
	starts := map[time.Time]string{}
	var first LoadRun
	for i, side := range sides {
		if len(side) == 0 {
			return nil, fmt.Errorf("compare load results: a side has none")
		}
		for k, run := range side {
			if i+k == 0 {
				first = run
			}
			if why := unlikeLoad(first, run); why != "" && !force {
				return nil, fmt.Errorf("%s and %s are results of different loads: %s; -force compares them", first.Name, run.Name, why)
			}
			if run.Start != nil {
				if name, ok := starts[*run.Start]; ok {
					return nil, fmt.Errorf("%s and %s are the same run: it cannot be compared with itself, or counted twice", name, run.Name)
				}
				starts[*run.Start] = run.Name
			}
			if i == oldSide {
				r.Files.Old = append(r.Files.Old, run.Name)
			} else {
				r.Files.New = append(r.Files.New, run.Name)
			}
		}
	}
	b := Benchmark{Name: loadSeries, Old: samplesOf(old), New: samplesOf(new)}
	for _, m := range loadMetrics(first.Loop) {
		values := [2][]float64{}
		for i, side := range sides {
			for k, run := range side {
				if v := m.of(run.Report); v > 0 {
					values[i] = append(values[i], v)
					[2][]Sample{b.Old, b.New}[i][k].Values[m.unit] = v
				}
			}
		}
		if len(values[oldSide]) < len(old) || len(values[newSide]) < len(new) {
			continue
		}
		if row, ok := newRow(m.unit, values[oldSide], values[newSide]); ok {
			b.Rows = append(b.Rows, row)
		}
	}
	if len(b.Rows) == 0 {
		return nil, fmt.Errorf("the load results have no figure in common: no request was answered in one of them")
	}
	r.Benchmarks = append(r.Benchmarks, b)
	r.decideAll()
	r.doubtLoads(sides)
	return r, nil
}

// samplesOf returns an empty sample for each run.
func samplesOf(runs []LoadRun) (samples []Sample) {
	for _, run := range runs {
		samples = append(samples, Sample{Seconds: run.Seconds, Values: map[string]float64{}})
	}
	return samples
}

// unlikeLoad returns how the loads of two runs differ, or "".
func unlikeLoad(a, b LoadRun) string {
	switch {
	case a.Loop != b.Loop:
		return fmt.Sprintf("one is a closed loop and one has a rate (%s, %s)", a.Loop, b.Loop)
	case math.Abs(a.Asked-b.Asked) > 0.01*a.Asked:
		return fmt.Sprintf("the rates are %g and %g requests/s", a.Asked, b.Asked)
	case a.Loop == "closed" && a.Connections != b.Connections:
		return fmt.Sprintf("%d and %d connections", a.Connections, b.Connections)
	case a.Expect != b.Expect:
		return fmt.Sprintf("the expected statuses are %q and %q", a.Expect, b.Expect)
	}
	return ""
}

// loadMetric is a metric of a load result; its value is 0 if a run does not have it.
type loadMetric struct {
	unit string
	of   func(*load.Report) float64
}

// loadMetrics lists the metrics of a load: throughput and service time of a closed loop, or latency
// under a given rate. A quantile needs ten requests above it.
func loadMetrics(loop string) (metrics []loadMetric) {
	name, summary := "latency", func(r *load.Report) *histogram.Summary { return r.Latency }
	if loop == "closed" {
		name, summary = "service time", func(r *load.Report) *histogram.Summary { return r.Service }
		metrics = []loadMetric{{"requests/s", func(r *load.Report) float64 { return r.Rate }}}
	}
	for _, q := range []struct {
		name  string
		least int64 // minimum number of requests
		of    func(*histogram.Summary) float64
	}{
		{"p50", 20, func(s *histogram.Summary) float64 { return s.P50 }},
		{"p90", 100, func(s *histogram.Summary) float64 { return s.P90 }},
		{"p99", 1000, func(s *histogram.Summary) float64 { return s.P99 }},
		{"p99.9", 10_000, func(s *histogram.Summary) float64 { return s.P999 }},
	} {
		metrics = append(metrics, loadMetric{name + " " + q.name + " s", func(r *load.Report) float64 {
			if s := summary(r); s != nil && s.Count >= q.least {
				return q.of(s)
			}
			return 0
		}})
	}
	return metrics
}

// doubtLoads withdraws verdicts that the runs do not support, and adds notes.
func (r *Result) doubtLoads(sides [2][]LoadRun) {
	why := ""
	doubt := func(format string, args ...any) {
		if why == "" {
			why = fmt.Sprintf(format, args...)
		}
	}
	var failed [2]float64
	for i, side := range sides {
		var requests, bad float64
		for _, run := range side {
			if run.Verdict == load.VerdictLimited {
				doubt("in %s the load generator was the limit", run.Name)
			}
			requests, bad = requests+float64(run.Requests), bad+float64(run.Failed)
		}
		failed[i] = bad / math.Max(1, requests)
	}
	if math.Abs(failed[newSide]-failed[oldSide]) > 0.001 {
		doubt("%.2g %% of the old side's requests failed and %.2g %% of the new side's, and failed requests take a different time", 100*failed[oldSide], 100*failed[newSide])
	}
	if oneAfterTheOther(sides) {
		doubt("the sides ran one after the other: alternate them")
	}
	few := min(len(sides[oldSide]), len(sides[newSide])) < leastLoads
	for _, b := range r.Benchmarks {
		for i := range b.Rows {
			row := &b.Rows[i]
			switch {
			case why != "":
				row.Verdict, row.Why, row.More = compare.Unknown, why, 0
			case row.Verdict == compare.Unknown && few:
				row.Why, row.More = fmt.Sprintf("make at least %d runs per side", leastLoads), 0
			}
		}
	}
	r.Notes = append(r.Notes, "a run is one sample of each quantile, because its requests are not independent: runs differ by more than their requests suggest")
	if failed[oldSide]+failed[newSide] > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%.2g %% of the old side's requests failed and %.2g %% of the new side's", 100*failed[oldSide], 100*failed[newSide]))
	}
}

// oneAfterTheOther reports whether all runs of one side started before those of the other.
func oneAfterTheOther(sides [2][]LoadRun) bool {
	var first, last [2]time.Time
	for i, side := range sides {
		for k, run := range side {
			if run.Start == nil {
				return false // unknown
			}
			if k == 0 || run.Start.Before(first[i]) {
				first[i] = *run.Start
			}
			if k == 0 || run.Start.After(last[i]) {
				last[i] = *run.Start
			}
		}
	}
	return last[oldSide].Before(first[newSide]) || last[newSide].Before(first[oldSide])
}
