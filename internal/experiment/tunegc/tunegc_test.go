package tunegc

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// line returns a collection of a heap that had grown to goal, of which live remains, with ms of
// CPU.
func line(n int, goal, live, ms float64) string {
	return fmt.Sprintf("gc %d @%.3fs 3%%: 0.1+1+0.1 ms clock, %.3f+0/0/0+0 ms cpu, %.0f->%.0f->%.0f MB, %.0f MB goal, 0 MB stacks, 0 MB globals, 2 P\n", n, float64(n)/100, ms, goal-1, goal, live, goal)
}

// program is a program whose live heap is 100 MB while it allocates 20 GB, under GOGC=100: 200
// collections of 5 ms in each of runs.
func program(runs int) (*listener, *recording.Manifest) {
	var l listener
	for range runs {
		for i := range 200 {
			text := line(i+1, 200, 100, 5)
			l.Write([]byte(text[:7]))
			l.Write([]byte(text[7:] + "something that the program prints\n"))
		}
	}
	m := &recording.Manifest{}
	m.Target.Kind, m.Target.Arg = "program", "./p"
	m.Runtime.GOGC, m.Machine.MemoryBytes = 100, 8<<30
	m.Phases = []recording.Phase{{
		Name: recording.PhaseClean, Runs: runs, Seconds: 5 * float64(runs), CPUSeconds: 5 * float64(runs),
		AllocBytes: int64(runs) * 20e9, RSSBytes: 230 << 20,
	}}
	return &l, m
}

func TestChoosesTheKnee(t *testing.T) {
	l, m := program(3)
	o, err := l.observed(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Runs) != 3 || len(o.Runs[0]) != 200 || !o.Ends {
		t.Fatalf("%d runs, %+v", len(o.Runs), o)
	}
	r, err := predict(o, m, Spec{Memory: 2 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.GCShare-0.2) > 0.02 || math.Abs(r.Cycles-200) > 20 {
		t.Errorf("GC share %.3f, %.0f cycles a run; want 0.2 and 200", r.GCShare, r.Cycles)
	}
	// Twice the GOGC is half the collections: 1 s of 5 s becomes 0.5 s, 0.25 s, 0.125 s.
	if r.Choice == nil {
		t.Fatalf("no choice: %s", r.Keep)
	}
	if c := r.Rows[r.Choice.Row]; c.GOGC != 800 || math.Abs(c.CPUSeconds-4.125) > 0.05 || c.Resident > 1.1e9 {
		t.Errorf("chosen: %+v", c)
	}
	if r.Choice.Env[0] != "GOGC=800" || r.Choice.Env[1] != "GOMEMLIMIT=1800MiB" {
		t.Errorf("environment %q", r.Choice.Env)
	}
	if r.Choice.GrownShare < 0.03 || r.Choice.GrownShare > 0.12 {
		t.Errorf("twice the live heap takes %.3f", r.Choice.GrownShare)
	}
	for i, x := range r.Rows {
		if i > 0 && r.Rows[i-1].CPUSeconds < x.CPUSeconds-1e-9 && x.GOGC > 0 {
			t.Errorf("GOGC=%d takes more than %d", x.GOGC, r.Rows[i-1].GOGC)
		}
	}
}

// TestKeepsWhatItHas: the setting is kept if the budget has no room, or if nothing can be saved.
func TestKeepsWhatItHas(t *testing.T) {
	l, m := program(1)
	o, err := l.observed(m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := predict(o, m, Spec{Memory: 100 << 20})
	if err != nil || r.Choice != nil || !strings.Contains(r.Keep, "live memory alone") {
		t.Errorf("100 MiB for 100 MB of live memory: %+v, %v", r, err)
	}
	if rows := r.measured(2, nil); len(rows) != 0 {
		t.Errorf("settings that do not fit are measured: %v", rows)
	}
	o.CPUSeconds = 500 // one second of it is collection
	if r, err = predict(o, m, Spec{Memory: 2 << 30}); err != nil || r.Choice != nil || !strings.Contains(r.Keep, "no other setting") {
		t.Errorf("nothing to gain: %+v, %v", r, err)
	}
}

// TestServiceWindow: for a service, the collections of the clean phase count.
func TestServiceWindow(t *testing.T) {
	var l listener
	l.Write([]byte(line(1, 200, 100, 5)))
	m := &recording.Manifest{Load: &recording.Load{}}
	m.Runtime.GOGC = 100
	start := time.Now().Add(-time.Second)
	m.Phases = []recording.Phase{{Name: recording.PhaseClean, Start: start, Seconds: 0.5, CPUSeconds: 1, Requests: 10}}
	o, err := l.observed(m)
	if err != nil || o.Ends || len(o.Runs) != 1 || len(o.Runs[0]) != 0 {
		t.Errorf("a collection after the phase counts: %+v, %v", o, err)
	}
	m.Phases[0].Seconds = 60
	if o, err = l.observed(m); err != nil || len(o.Runs[0]) != 1 {
		t.Errorf("one in the phase does not: %+v, %v", o, err)
	}
}

func TestRefuses(t *testing.T) {
	for _, o := range []capture.Options{{Bench: "."}, {URL: "http://127.0.0.1:1"}} {
		if _, err := Run(t.Context(), session.Config{CacheDir: t.TempDir()}, Spec{Options: o}); err == nil || !strings.Contains(err.Error(), "name a program") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	_, m := program(1)
	m.Phases[0].CPUSeconds, m.Phases[0].Runs = 0, 0
	o, _ := (&listener{}).observed(m)
	if _, err := predict(o, m, Spec{}); err == nil || !strings.Contains(err.Error(), "did no work") {
		t.Errorf("no work: %v", err)
	}
}

func TestListenerIsBounded(t *testing.T) {
	var l listener
	for range 100 {
		if n, err := l.Write(make([]byte, 4<<10)); n != 4<<10 || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(l.rest) > longestLine+4<<10 {
		t.Errorf("%d bytes are kept of a line without an end", len(l.rest))
	}
	l.Write([]byte("\n" + line(1, 9, 4, 1)))
	if len(l.seen) != 1 {
		t.Error("what comes after it is lost")
	}
}

func TestWithTrace(t *testing.T) {
	for want, env := range map[string][]string{
		"gctrace=1":                {"A=b"},
		"madvdontneed=1,gctrace=1": {"GODEBUG=x=1", "GODEBUG=madvdontneed=1"},
	} {
		if got := withTrace(env); got != want {
			t.Errorf("%q: %s", env, got)
		}
	}
}

// TestCharge: collections cost what the profile shows, and at most what the runtime printed, which
// includes the time for which other processes used the CPUs.
func TestCharge(t *testing.T) {
	for _, tt := range []struct {
		what              string
		marking, sweeping float64 // seconds in the profile, of 10
		printed           float64
		lost              stats.Interval // share of CPU
		want, drag        float64
	}{
		{"less than printed", 0.5, 0.5, 1, stats.Unknown(), 0.25, 0},
		{"more than printed, by chance", 4, 0, 1, stats.Unknown(), 1, 0},
		{"a program that runs slower while it is collected", 1, 0, 1, stats.Interval{Value: 0.05, Low: 0.04, High: 0.06}, 0.5, 0.8},
		{"no collections", 0, 0.5, 0, stats.Interval{Value: 0.05, Low: 0.04, High: 0.06}, 0, 0},
	} {
		o := &gogc.Observed{CPUSeconds: 5, Runs: [][]gogc.Cycle{{{CPU: tt.printed}}}}
		table := &site.Table{Totals: site.Totals{TotalSeconds: 10, D: tt.marking, W: tt.sweeping}, Buckets: []site.Bucket{{Name: "GC: sweep and scavenge", Seconds: tt.sweeping}}}
		charge(o, table, tt.lost, nil)
		if math.Abs(o.GCSeconds-tt.want) > 1e-9 || math.Abs(o.Drag-tt.drag) > 1e-9 {
			t.Errorf("%s: %v s and a drag of %v, want %v and %v", tt.what, o.GCSeconds, o.Drag, tt.want, tt.drag)
		}
	}
	o := &gogc.Observed{CPUSeconds: 5, Runs: [][]gogc.Cycle{{{CPU: 1}}}}
	if charge(o, &site.Table{}, stats.Unknown(), nil); o.GCSeconds != 0 {
		t.Errorf("without a profile: %v", o.GCSeconds)
	}
}

// TestMeasuresAskedSettings: settings that the user names are measured with the choice, whether or
// not they fit; neighbours fill the remaining places.
func TestMeasuresAskedSettings(t *testing.T) {
	l, m := program(1)
	o, err := l.observed(m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := predict(o, m, Spec{Memory: 2 << 30, Also: []int{150, 100, 3200, 400}})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, i := range r.measured(1, []int{150, 100, 3200, 400}) {
		got = append(got, r.Rows[i].GOGC)
	}
	if want := []int{800, 150, 400, 3200, 1600}; !slices.Equal(got, want) {
		t.Errorf("measured: %v, want %v", got, want)
	}
}

// TestDrag: a trace and a trial in the service show what it loses in addition to the collector's
// own time. If one of them is imprecise, the other decides; if both are, the usual value does.
func TestDrag(t *testing.T) {
	var run []gogc.Cycle
	for range 40 {
		run = append(run, gogc.Cycle{CPU: 0.01, End: 40 << 20, Live: 20 << 20, Goal: 40 << 20})
	}
	service := gogc.Observed{GOGC: 100, Runs: [][]gogc.Cycle{run}, AllocBytes: 800 << 20, CPUSeconds: 4}
	table := &site.Table{Totals: site.Totals{TotalSeconds: 10, D: 1}} // a tenth is the collector's
	trial := func(ratios ...float64) *recording.Trial {
		tr := &recording.Trial{GOGC: 400}
		for _, r := range ratios {
			tr.Turns = append(tr.Turns, recording.Turn{GOGC: 100, Requests: 1000, CPUSeconds: 1}, recording.Turn{GOGC: 400, Requests: 1000, CPUSeconds: r})
		}
		return tr
	}
	lost := stats.Interval{Value: 0.15, Low: 0.14, High: 0.16}
	for _, tt := range []struct {
		what      string
		lost      stats.Interval
		trial     *recording.Trial
		ends      bool
		low, high float64
	}{
		{"a trial that saves twice the collector's own time", stats.Unknown(), trial(0.85, 0.851, 0.849, 0.85), false, 0.95, 1.05},
		{"a trial that saves the collector's own time", stats.Unknown(), trial(0.925, 0.9251, 0.9249), false, 0, 0.05},
		{"a trial that saves nothing", stats.Unknown(), trial(1, 1.001, 0.999), false, 0, 0},
		{"a trial that shows nothing", stats.Unknown(), trial(0.5, 1.2, 0.6, 1.3), false, 0.4, 0.8},
		{"a trace, and a trial that shows nothing", lost, trial(0.5, 1.2, 0.6, 1.3), false, 1.7, 1.9},
		{"a trace", lost, nil, false, 1.79, 1.81},
		{"nothing", stats.Unknown(), nil, false, 0, 0},
		{"a trial of a program that exits", stats.Unknown(), trial(0.85, 0.851, 0.849, 0.85), true, 0, 0},
	} {
		o := service
		o.Ends = tt.ends
		if charge(&o, table, tt.lost, tt.trial); o.Drag < tt.low || o.Drag > tt.high {
			t.Errorf("%s: %.2f, want %v to %v", tt.what, o.Drag, tt.low, tt.high)
		}
	}
}
