package main

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// promising returns a finding of the given function that promises a share of CPU.
func promising(rank int, function string, share float64) *diagnose.Finding {
	f := finding(rank, "x", function, "t.go", 1, rule.Measured, "")
	f.Saving = &diagnose.Saving{Resource: "cpu", Share: share, Low: share - 0.05, High: share + 0.05}
	return &f
}

// TestPromise: the savings of several findings add up, minus what the fixed version still has, and
// minus what another finding includes.
func TestPromise(t *testing.T) {
	a, b := promising(1, "m.a", 0.4), promising(2, "m.b", 0.2)
	wide := promising(3, "m.c", 0.01)
	wide.Includes, wide.SavingWith, wide.CostWith = []int{1}, &diagnose.Saving{Resource: "cpu", Share: 0.1, Low: 0.08, High: 0.12}, &diagnose.Cost{}
	waits := promising(4, "m.d", 0.5)
	waits.Saving.Resource = "latency"
	run := promising(1, "m.e", 0.3)
	run.Saving.Resource, run.Saving.Of = "latency", "the time of a run"
	for _, c := range []struct {
		what  string
		from  []*diagnose.Finding
		fixed *diagnose.Report
		want  float64 // the middle; 0 for none
	}{
		{"one", []*diagnose.Finding{a}, &diagnose.Report{}, 0.4},
		{"both", []*diagnose.Finding{a, b}, &diagnose.Report{}, 0.6},
		{"one stays", []*diagnose.Finding{a, b}, &diagnose.Report{Findings: []diagnose.Finding{*b}}, 0.4},
		{"all stay", []*diagnose.Finding{b}, &diagnose.Report{Findings: []diagnose.Finding{*b}}, 0},
		{"one includes the other and saves less", []*diagnose.Finding{a, wide}, &diagnose.Report{}, 0.4},
		{"of time, not of CPU", []*diagnose.Finding{waits}, &diagnose.Report{}, 0},
		{"of the time of a run", []*diagnose.Finding{run, b}, &diagnose.Report{}, 0.3},
	} {
		if v := (verdict{accusing: c.from}); true {
			if v.promise(c.fixed); v.Promise != nil {
				t.Errorf("%s: promised by what does not explain it", c.what)
			}
		}
		v := verdict{Explained: 1, accusing: c.from}
		v.promise(c.fixed)
		switch {
		case (v.Promise == nil) != (c.want == 0):
			t.Errorf("%s: %+v", c.what, v.Promise)
		case v.Promise != nil && math.Abs((v.Promise.Low+v.Promise.High)/2-c.want) > 1e-9:
			t.Errorf("%s: %+v, want %v in the middle", c.what, v.Promise, c.want)
		}
	}
}
