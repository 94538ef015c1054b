package tunegc

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
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
	if rows := r.measured(2); len(rows) != 0 {
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
