package site

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestJoined(t *testing.T) {
	code := testIndex(t)
	table := mustJoin(t, Input{
		CPU: build(t, cpu,
			ticks(50, "main.a:1 < main.main:9 < runtime.main"),
			ticks(20, "github.com/go-chi/chi.r:4 < main.handle:3 < net/http.(*conn).serve"),
			ticks(20, "runtime.gcDrainMarkWorkerDedicated < runtime.gcBgMarkWorker"),
			ticks(4, "runtime.gcDrainN < runtime.gcAssistAlloc < runtime.mallocgc < main.b:1 < main.main:9 < runtime.main"),
			ticks(6, "runtime.neverHeardOf"),
		),
		Allocs: build(t, allocs, objects(10, 4096, "main.a:1 < main.main:9 < runtime.main")),
		Code:   code,
	})
	j := table.Joined()
	if want := (Parts{Main: 0.5, Dependencies: 0.2, Named: 0.24, Unjoined: 0.06}); j.CPU == nil || !samePart(*j.CPU, want) {
		t.Errorf("CPU %+v, want %+v", j.CPU, want)
	}
	if j.Bytes == nil || !samePart(*j.Bytes, Parts{Main: 1}) {
		t.Errorf("bytes %+v", j.Bytes)
	}
	if j.MainSamples != 70 || j.EntrySamples != 70 {
		t.Errorf("%d samples of main, %d with an entry", j.MainSamples, j.EntrySamples)
	}
	if len(j.Unjoined) != 1 || j.Unjoined[0].What != "runtime.neverHeardOf" || j.Unjoined[0].Why == "" || math.Abs(j.Unjoined[0].CPU-0.06) > 1e-9 {
		t.Errorf("%+v", j.Unjoined)
	}
	if none := (&Table{}).Joined(); none.CPU != nil || none.Bytes != nil || none.Unjoined != nil {
		t.Errorf("of nothing: %+v", none)
	}
}

func samePart(a, b Parts) bool {
	const e = 1e-9
	return math.Abs(a.Main-b.Main) < e && math.Abs(a.Dependencies-b.Dependencies) < e && math.Abs(a.Named-b.Named) < e && math.Abs(a.Unjoined-b.Unjoined) < e
}

// TestJoinedAddsUp: the parts add up to the whole, and every sample with a line of the main module
// has its entry.
func TestJoinedAddsUp(t *testing.T) {
	code := testIndex(t)
	rapid.Check(t, func(rt *rapid.T) {
		table := mustJoin(t, Input{CPU: build(t, cpu, drawProfile(rt, cpu, "cpu")...), Allocs: build(t, allocs, drawProfile(rt, allocs, "allocs")...), Code: code})
		j := table.Joined()
		for _, p := range []*Parts{j.CPU, j.Bytes} {
			if p != nil && math.Abs(p.Share()+p.Unjoined-1) > 1e-9 {
				rt.Fatalf("%+v", *p)
			}
		}
		if j.EntrySamples != j.MainSamples {
			rt.Fatalf("%d of %d samples have an entry", j.EntrySamples, j.MainSamples)
		}
	})
}
