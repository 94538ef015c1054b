package bench

import (
	"testing"

	"github.com/hone-go/hone/internal/compare"
)

func TestNoiseOf(t *testing.T) {
	row := func(unit string, half float64, v compare.Verdict) Row {
		low, high := 1-half, 1+half
		return Row{Unit: unit, Low: &low, High: &high, Verdict: v}
	}
	n := noiseOf(&Result{Benchmarks: []Benchmark{
		{Rows: []Row{row("ns/op", 0.02, compare.Unknown), row(cpuUnit, 0.01, compare.Same), {Unit: "allocs/op", Exact: true, Verdict: compare.Same}}},
		{Rows: []Row{row("ns/op", 0.10, compare.Worse), row(cpuUnit, 0.03, compare.Unknown)}},
		{Rows: []Row{row("ns/op", 0.04, compare.Unknown), {Unit: cpuUnit, Verdict: compare.Unknown}}},
	}})
	want := []NoiseMetric{{"ns/op", 0.04, 0.10, 1, 3}, {cpuUnit, 0.02, 0.03, 0, 3}, {"allocs/op", 0, 0, 0, 1}}
	if len(n.Metrics) != len(want) || n.Benchmarks != 3 {
		t.Fatalf("%+v", n)
	}
	for i, m := range n.Metrics {
		if d := m.Sees - want[i].Sees; m.Unit != want[i].Unit || d > 1e-9 || d < -1e-9 || m.Called != want[i].Called || m.Rows != want[i].Rows {
			t.Errorf("%+v, want %+v", m, want[i])
		}
	}
}
