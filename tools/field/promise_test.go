package main

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/site"
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
	requests := promising(1, "m.g", 0.6)
	requests.Saving.Resource = "latency"
	leak := promising(1, "m.f", 0.7)
	leak.Saving.Resource = "memory"
	grows := promising(1, "m.h", 0.7)
	grows.Saving = nil
	run := promising(1, "m.e", 0.3)
	run.Saving.Resource, run.Saving.Of = "latency", "the time of a run"
	for _, c := range []struct {
		what  string
		from  []*diagnose.Finding
		fixed *diagnose.Report
		want  float64 // the middle; 0 for none
		of    total
	}{
		{"one", []*diagnose.Finding{a}, &diagnose.Report{}, 0.4, ""},
		{"both", []*diagnose.Finding{a, b}, &diagnose.Report{}, 0.6, ""},
		{"one stays", []*diagnose.Finding{a, b}, &diagnose.Report{Findings: []diagnose.Finding{*b}}, 0.4, ""},
		{"all stay", []*diagnose.Finding{a}, &diagnose.Report{Findings: []diagnose.Finding{*a}}, 0, ""},
		{"one includes the other and saves less", []*diagnose.Finding{a, wide}, &diagnose.Report{}, 0.4, ""},
		{"what explains it promises nothing", []*diagnose.Finding{grows, b}, &diagnose.Report{}, 0, ""},
		{"of CPU, not of time", []*diagnose.Finding{a, waits}, &diagnose.Report{}, 0.4, ""},
		{"of the time of requests", []*diagnose.Finding{requests, b}, &diagnose.Report{}, 0.6, timeOfRequest},
		{"of memory", []*diagnose.Finding{leak, b}, &diagnose.Report{}, 0.7, liveMemory},
		{"of the time of a run", []*diagnose.Finding{run, b}, &diagnose.Report{}, 0.3, timeOfRun},
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
		case v.Promise != nil && v.Promise.Of != c.of:
			t.Errorf("%s: of %q, want %q", c.what, v.Promise.Of, c.of)
		case v.Promise != nil && math.Abs((v.Promise.Low+v.Promise.High)/2-c.want) > 1e-9:
			t.Errorf("%s: %+v, want %v in the middle", c.what, v.Promise, c.want)
		}
	}
}

// TestLessTime: four times the requests in the same time are a quarter of the time for each.
func TestLessTime(t *testing.T) {
	of := func(requests ...int64) (all []compare.Source) {
		for _, n := range requests {
			all = append(all, compare.Source{Manifest: recording.Manifest{Phases: []recording.Phase{{Name: recording.PhaseClean, Seconds: 2, Requests: n}}}})
		}
		return all
	}
	s := lessTime(of(1000, 1010, 990), of(4000, 3960, 4040))
	if s == nil || s.Low > 0.75 || s.High < 0.75 || s.Low < 0.73 || s.High > 0.77 || s.Of != timeOfRequest {
		t.Errorf("%+v, want about 75 %%", s)
	}
	if s := lessTime(of(), of()); s != nil {
		t.Errorf("%+v of nothing", s)
	}
}

// TestLessLive: the interval of memory is that of a heap profile's samples.
func TestLessLive(t *testing.T) {
	of := func(samples int64) *session.Result {
		r := &session.Result{Table: &site.Table{}}
		r.Table.Totals.LiveBytes = samples * heapSample
		return r
	}
	s := lessLive(of(400), of(100))
	if s == nil || s.Low > 0.75 || s.High < 0.75 || s.Low < 0.65 || s.High > 0.82 || s.Of != liveMemory {
		t.Errorf("%+v, want about 75 %%", s)
	}
	if s := lessLive(of(0), of(100)); s != nil {
		t.Errorf("%+v of nothing", s)
	}
}

// TestByTotal: promises count only where the same was measured, and not too widely.
func TestByTotal(t *testing.T) {
	rows := []row{
		{verdict: verdict{Promise: &span{Low: 0.2, High: 0.4}}, Measured: &span{Low: 0.3, High: 0.5}},
		{verdict: verdict{Promise: &span{Low: 0.2, High: 0.3}}, Measured: &span{Low: 0.4, High: 0.5}},
		{verdict: verdict{Promise: &span{Low: 0, High: 0.9, Of: liveMemory}}, Measured: &span{Low: 0.4, High: 0.5, Of: liveMemory}},
		{verdict: verdict{Promise: &span{Low: 0, High: 0.9, Of: timeOfRun}}, Measured: &span{Low: 0.4, High: 0.5}},
		{verdict: verdict{Promise: &span{Low: 0.2, High: 0.3}}, Measured: &span{Low: -0.1, High: 0.5}},
		{Measured: &span{Low: 0.4, High: 0.5}},
	}
	if got, want := (&table{Rows: rows}).byTotal(), "CPU 1 of 2 (15 points), live memory 1 of 1 (90 points)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
