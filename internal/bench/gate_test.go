package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/compare"
)

func TestParseGate(t *testing.T) {
	g, err := ParseGate([]byte(`{"bench": "Encode", "budget": "30s", "strict": true, "units": ["cpu-ns/op"],
		"allow": [{"benchmark": "Slow*", "percent": 5, "reason": "being replaced"}]}`))
	if err != nil || time.Duration(g.Budget) != 30*time.Second || !g.Strict || g.Bench != "Encode" || len(g.Allow) != 1 {
		t.Fatal(g, err)
	}
	if g, err := ParseGate(nil); err != nil || g.Strict {
		t.Error(g, err)
	}
	for text, want := range map[string]string{
		`{"budgets": "30s"}`:                             "unknown field",
		`{"budget": 30}`:                                 "is not a duration",
		`{"budget": "-1s"}`:                              "is not a duration",
		`{"allow": [{"benchmark": "X"}]}`:                "want a reason",
		`{"allow": [{"benchmark": "[", "reason": "x"}]}`: "syntax error",
		`{"allow": [{"benchmark": "X", "percent": -1, "reason": "x"}]}`: "positive",
		`{} {}`: "unexpected text",
	} {
		if _, err := ParseGate([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestGateApply(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	result := func() *Result {
		worse := func(unit string, ratio float64) Row {
			return Row{Unit: unit, Old: number(100), New: 100 * ratio, Ratio: &ratio, Verdict: compare.Worse}
		}
		return &Result{Benchmarks: []Benchmark{
			{Package: "a/b", Name: "BenchmarkX-2", Rows: []Row{worse("cpu-ns/op", 1.04), worse("allocs/op", 1.5)}},
			{Package: "a/c", Name: "BenchmarkY/n=1-2", Rows: []Row{worse("MB/s", 0.5), {Unit: "B/op", Old: number(1), Verdict: compare.Unknown}, {Unit: "ns/op", Old: number(1), Verdict: compare.Unknown}}},
		}}
	}
	for _, tt := range []struct {
		what           string
		gate           Gate
		worse, unknown int
	}{
		{"nothing decided", Gate{}, 3, 1},
		{"units", Gate{Units: []string{"allocs/op"}}, 1, 0},
		{"by less than allowed", Gate{Allow: []Allow{{Benchmark: "X", Percent: 5, Reason: "r"}}}, 2, 1},
		{"by more than allowed", Gate{Allow: []Allow{{Benchmark: "X", Percent: 3, Reason: "r"}}}, 3, 1},
		{"a rate that halved is worse by 100 %", Gate{Allow: []Allow{{Unit: "MB/s", Percent: 60, Reason: "r"}}}, 3, 1},
		{"any amount, by pattern", Gate{Allow: []Allow{{Package: "a/*", Benchmark: "Y/*", Reason: "r"}}}, 2, 1},
		{"all", Gate{Allow: []Allow{{Reason: "r"}}}, 0, 1},
	} {
		r := result()
		worse, unknown := tt.gate.Apply(r)
		if len(worse) != tt.worse || len(unknown) != tt.unknown {
			t.Errorf("%s: %v worse, %v unknown", tt.what, worse, unknown)
		}
		allowed := 0
		for _, b := range r.Benchmarks {
			allowed += len(slices.DeleteFunc(slices.Clone(b.Rows), func(row Row) bool { return row.Allowed == "" }))
		}
		if allowed != 3-tt.worse {
			t.Errorf("%s: %d rows say why they pass, want %d", tt.what, allowed, 3-tt.worse)
		}
	}
}
