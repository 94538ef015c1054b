package site

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAbout: who calls a place, what it calls, and its own cost.
func TestAbout(t *testing.T) {
	code := testIndex(t)
	table := mustJoin(t, Input{
		CPU: build(t, cpu,
			ticks(30, "strings.Repeat < main.a:1 < main.main:9 < runtime.main"),
			ticks(10, "main.b:5 < main.a:2 < main.main:9 < runtime.main"),
			ticks(20, "main.a:1 < main.handle:3 < net/http.(*conn).serve"),
			ticks(5, "main.a:1 < main.b:6 < main.a:2 < main.main:9 < runtime.main"), // it calls itself
			ticks(7, "runtime.gcDrainN < runtime.gcAssistAlloc < runtime.mallocgc < main.a:1 < main.main:9 < runtime.main"),
			ticks(40, "main.b:5 < main.main:8 < runtime.main"),
		),
		Allocs: build(t, allocs, objects(1000, 4096, "main.a:1 < main.main:9 < runtime.main")),
		Code:   code,
	})
	a := table.About(func(f *Frame) bool { return f.Function == "main.a" })
	if !slices.Equal(a.Functions, []string{"main.a"}) {
		t.Fatal(a.Functions)
	}
	amounts := map[string][2]float64{}
	for _, m := range a.Amounts {
		amounts[m.Unit] = [2]float64{m.Own.Value, m.Total.Value}
	}
	if got := amounts[UnitCPU]; !near2(got, 0.55, 0.65) {
		t.Errorf("CPU %v", got)
	}
	if got := amounts[UnitGC]; !near2(got, 0.07, 0.07) {
		t.Errorf("the assists are its own by bytes: %v", got)
	}
	if got := amounts[UnitBytes]; !near2(got, 1000*4096, 1000*4096) {
		t.Errorf("bytes %v", got)
	}
	if _, ok := amounts[UnitMutex]; ok {
		t.Error("what was not recorded must be absent")
	}
	name := func(n Neighbour) string {
		if n.Frame == nil {
			return "-"
		}
		return n.Function
	}
	var callers, callees []string
	for _, n := range a.Callers {
		callers = append(callers, name(n))
	}
	for _, n := range a.Callees {
		callees = append(callees, name(n))
	}
	if got, want := strings.Join(callers, " "), "main.main main.handle"; got != want {
		t.Errorf("callers %s, want %s", got, want)
	}
	if got, want := strings.Join(callees, " "), "strings.Repeat - main.b"; got != want {
		t.Errorf("callees %s, want %s", got, want)
	}
	if none := table.About(func(*Frame) bool { return false }); len(none.Functions)+len(none.Amounts)+len(none.Lines) != 0 {
		t.Errorf("%+v", none)
	}
}

func near2(got [2]float64, own, total float64) bool {
	const e = 1e-9
	return got[0] > own-own*e-e && got[0] < own+own*e+e && got[1] > total-total*e-e && got[1] < total+total*e+e
}

// TestAboutAddsUp: whatever the place, callees have all of its cost, callers no more, its own cost
// is at most the total, and a place that includes everything has the recording's totals.
func TestAboutAddsUp(t *testing.T) {
	code := testIndex(t)
	rapid.Check(t, func(rt *rapid.T) {
		table := mustJoin(t, Input{CPU: build(t, cpu, drawProfile(rt, cpu, "cpu")...), Allocs: build(t, allocs, drawProfile(rt, allocs, "allocs")...), Code: code})
		place := rapid.SampledFrom([]string{"main.", "main.a", "chi", "encoding/json", ""}).Draw(rt, "place")
		a := table.About(func(f *Frame) bool { return strings.Contains(f.Function, place) })
		var callees, callers int64
		for _, n := range a.Callees {
			callees += n.CPU
		}
		for _, n := range a.Callers {
			callers += n.CPU
		}
		for _, m := range a.Amounts {
			if m.Own.Value > m.Total.Value*(1+1e-9) || m.Total.Value > m.Of*(1+1e-9) {
				rt.Fatalf("%+v", m)
			}
			if m.Unit == UnitCPU {
				if got := float64(callees) / 1e9; got < m.Total.Value*(1-1e-9) || got > m.Total.Value*(1+1e-9) || float64(callers)/1e9 > got*(1+1e-9) {
					rt.Fatalf("callees %g, callers %d, total %g", got, callers, m.Total.Value)
				}
			}
		}
	})
}
