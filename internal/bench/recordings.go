package bench

import (
	"strings"

	"github.com/hone-go/hone/internal/compare"
)

// OfRecordings turns a comparison of recordings into one of benchmarks, which can be written as a
// report. A unit is the metric's name and its unit, as in the history: "cpu s/request".
func OfRecordings(c *compare.Comparison) *Result {
	r := &Result{Schema: Schema, Files: &Files{Old: strings.Split(c.Old, ", "), New: strings.Split(c.New, ", ")}, Benchmarks: []Benchmark{},
		OnlyOld: c.OnlyOld, OnlyNew: c.OnlyNew, Notes: c.Notes}
	for _, row := range c.Rows {
		if n := len(r.Benchmarks); n == 0 || r.Benchmarks[n-1].Name != row.Name {
			r.Benchmarks = append(r.Benchmarks, Benchmark{Name: row.Name, New: []Sample{}})
		}
		b := &r.Benchmarks[len(r.Benchmarks)-1]
		old := row.Old
		b.Rows = append(b.Rows, Row{Unit: row.Metric + " " + row.Unit, Old: &old, New: row.New, Ratio: row.Ratio, Low: row.Low, High: row.High,
			P: row.P, Q: row.Q, N: row.N, Exact: row.Exact, Verdict: row.Verdict, Why: row.Why})
	}
	return r
}
