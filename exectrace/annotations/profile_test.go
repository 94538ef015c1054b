package annotations

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path"
	"runtime/trace"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
)

func read(t *testing.T, data []byte) *Fold {
	t.Helper()
	f := new(Fold)
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, f); err != nil {
		t.Fatal(err)
	}
	return f
}

// sums returns the values of a profile by label and leaf: "order in annotations.handle".
func sums(t *testing.T, f *Fold, v View) map[string][]int64 {
	t.Helper()
	p, err := f.Profile(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]int64{}
	for i := range p.NumSamples() {
		name := ""
		for _, l := range p.Labels(i) {
			name = l.Str
		}
		leaf := p.Locations[p.Stack(i)[0]].Lines[0].Func
		k := name + " in " + path.Base(p.Functions[leaf].Name)
		if out[k] == nil {
			out[k] = make([]int64, len(p.SampleTypes))
		}
		for at := range p.SampleTypes {
			out[k][at] += p.Values(at)[i]
		}
	}
	return out
}

func handle(ctx context.Context, name string, end bool) {
	ctx, task := trace.NewTask(ctx, name)
	trace.WithRegion(ctx, "outer", func() { inside(ctx) })
	if end {
		elsewhere(task)
	}
}

//go:noinline
func inside(ctx context.Context) {
	for _, name := range []string{"one", "two"} { // with the same stack
		trace.WithRegion(ctx, name, func() { trace.Log(ctx, "step", "packed") })
	}
}

//go:noinline
func elsewhere(task *trace.Task) { task.End() }

// TestProfiles compares the profiles with what was recorded, and with the sums by type.
func TestProfiles(t *testing.T) {
	ctx, before := trace.NewTask(t.Context(), "before") // starts before the trace
	f := read(t, tracetest.Record(t, func() {
		before.End()
		for i := range 10 {
			handle(ctx, "order", i > 0)
		}
		handle(ctx, "return", true)
	}))
	const here = "annotations."
	for _, c := range []struct {
		view View
		want map[string]int64
	}{
		{Tasks, map[string]int64{"order in " + here + "handle": 9, "return in " + here + "handle": 1}},
		{Regions, map[string]int64{"outer in " + here + "handle": 11, "one in " + here + "inside": 11, "two in " + here + "inside": 11}},
		{Logs, map[string]int64{"step in " + here + "inside.func1": 22}},
	} {
		got := sums(t, f, c.view)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.view, got, c.want)
		}
		for k, n := range c.want {
			if len(got[k]) == 0 || got[k][0] != n {
				t.Errorf("%s: %v of %s, want %d", c.view, got[k], k, n)
			}
		}
	}
	var ns int64
	for _, v := range sums(t, f, Tasks) {
		ns += v[1]
	}
	var seconds float64
	for _, x := range f.Result().Tasks {
		if x.Times != nil {
			seconds += x.Times.Mean * float64(x.Count-x.Open-x.Found)
		}
	}
	if math.Abs(float64(ns)/1e9-seconds) > 1e-6 {
		t.Errorf("the profile has %d ns of tasks, the types %g s", ns, seconds)
	}
	if _, err := f.Profile("blocks"); err == nil {
		t.Error("a profile that does not exist")
	}
}

// TestProfileBeyondTheBound: types that have no entry of their own are still counted.
func TestProfileBeyondTheBound(t *testing.T) {
	f := read(t, tracetest.Record(t, func() {
		for i := range maxPlaces + 10 {
			trace.Log(context.Background(), fmt.Sprint(i), "")
		}
	}))
	p, err := f.Profile(Logs)
	if err != nil {
		t.Fatal(err)
	}
	if p.Total(0) != maxPlaces+10 || len(f.logPlaces.all) != maxPlaces || f.logPlaces.rest.n != 10 {
		t.Errorf("%d logs in %d places, and %d", p.Total(0), len(f.logPlaces.all), f.logPlaces.rest.n)
	}
}
