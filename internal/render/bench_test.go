package render

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
)

func benchResult() *bench.Result {
	p := func(x float64) *float64 { return &x }
	samples := func(ns float64) []bench.Sample {
		return []bench.Sample{{Layout: 1, Values: map[string]float64{"ns/op": ns, "allocs/op": 3}}, {Layout: 2, Values: map[string]float64{"ns/op": ns + 1, "allocs/op": 3}}}
	}
	return &bench.Result{
		Go: "go1.26.8", CPUs: 2, Against: "main", Commit: "0123456789abcdef", Seconds: 12, OnlyNew: []string{"example.com/p BenchmarkNew-2"},
		Benchmarks: []bench.Benchmark{{
			Package: "example.com/p", Name: "BenchmarkJoin/n=10-2", Iterations: 1000, Old: samples(100), New: samples(120),
			Rows: []bench.Row{
				{Unit: "ns/op", Old: p(100), New: 120, Ratio: p(1.2), Low: p(1.1), High: p(1.3), N: [2]int{2, 2}, Verdict: compare.Worse},
				{Unit: "cpu-ns/op", Old: p(100), New: 101, Ratio: p(1.01), Low: p(0.9), High: p(1.1), N: [2]int{2, 2}, Verdict: compare.Unknown, More: 40},
				{Unit: "allocs/op", Old: p(3), New: 3, Ratio: p(1), N: [2]int{2, 2}, Exact: true, Verdict: compare.Same},
			},
			Grown: []bench.Grown{{Unit: "cpu-ns/op", Function: "example.com/p.Join", File: "p.go", Line: 9, Old: 10, New: 30, Changed: &bench.Changed{Function: "example.com/p.All", File: "p.go", Line: 21}}},
		}},
	}
}

func TestBenchPage(t *testing.T) {
	var out bytes.Buffer
	Bench(&out, benchResult(), Style{Width: 100})
	want := `
go1.26.8 · 2 processors · 12.0 s · old: main (0123456789ab), new: the working tree

 old new change 95 % runs
example.com/p
Join/n=10-2
 time 100 ns 120 ns +20 % +10 % to +30 % 2 worse
 CPU 100 ns 101 ns +1.0 % −10 % to +10 % 2 unknown, about 40 more runs
 allocations 3 3 0.0 % exact 2 same

Join/n=10-2 costs more in these functions:
 example.com/p.Join p.go:9 CPU 10.0 ns → 30.0 ns; changed: p.go:21 in example.com/p.All
note: only the new side has example.com/p BenchmarkNew-2
`
	if got := squeeze(out.String()); got != squeeze(want) {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestBenchLines: what is printed for other tools can be read by the package that they use.
func TestBenchLines(t *testing.T) {
	var out bytes.Buffer
	BenchLines(&out, benchResult())
	sides := map[string]int{}
	for r := benchfmt.NewReader(&out, "x"); r.Scan(); {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", r.Result())
		}
		sides[res.GetConfig("side")+" "+res.GetConfig("pkg")+" "+res.Name.String()]++
		if len(res.Values) != 2 || res.Iters != 1000 {
			t.Errorf("%+v", res)
		}
	}
	if sides["old example.com/p Join/n=10-2"] != 2 || sides["new example.com/p Join/n=10-2"] != 2 || len(sides) != 2 {
		t.Errorf("%v", sides)
	}
}

func TestBenchReports(t *testing.T) {
	var md, junit bytes.Buffer
	BenchMarkdown(&md, benchResult())
	for _, want := range []string{"1 worse, 0 better, 1 the same, 1 unknown", "| `example.com/p` | `Join/n=10-2` | time | 100 ns | 120 ns | +20 % | +10 % to +30 % | worse |", "p.go:9"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("no %q in\n%s", want, md.String())
		}
	}
	if err := BenchJUnit(&junit, benchResult()); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != 1 || suite.Failures != 1 || !strings.Contains(suite.Cases[0].Failure.Message, "time 100 ns → 120 ns") {
		t.Errorf("%+v", suite)
	}
}
