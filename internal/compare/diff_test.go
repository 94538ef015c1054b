package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/pairing"
)

var cpuTypes = []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}

// cpuProfile returns a profile with the given number of samples of 10 ms in each function, over 10
// seconds.
func cpuProfile(t testing.TB, samples map[string]int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(cpuTypes...)
	for name, n := range samples {
		b.Add([]profile.FrameSpec{{Function: name, File: "x.go", Line: 1}, {Function: "main.main", File: "x.go", Line: 9}}, n, n*10_000_000)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.DurationNanos = 10e9
	return p
}

func source(p *profile.Profile, index int) DiffSource {
	return DiffSource{Name: "p", Profile: p, Index: index, Total: p.Total(index)}
}

func diffOf(t testing.TB, o DiffOptions, old, new []DiffSource) *Diff {
	t.Helper()
	d, err := NewDiffer(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range old {
		if err := d.AddOld(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range new {
		if err := d.AddNew(s); err != nil {
			t.Fatal(err)
		}
	}
	out, err := d.Diff()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rowOf(t *testing.T, d *Diff, function string) DiffRow {
	t.Helper()
	for _, r := range d.Rows {
		if r.Function == function {
			return r
		}
	}
	t.Fatalf("no row of %s in %+v", function, d.Rows)
	return DiffRow{}
}

func TestDiffReportsMovedSameAndUnknown(t *testing.T) {
	old := cpuProfile(t, map[string]int64{"main.slow": 9000, "main.kept": 500, "main.vague": 400, "main.gone": 300})
	new := cpuProfile(t, map[string]int64{"main.slow": 4000, "main.kept": 505, "main.vague": 460, "main.added": 300})
	d := diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{source(old, 1)}, []DiffSource{source(new, 1)})
	if d.Unit != "s" || d.Per != "second" || d.SampleType != "cpu" {
		t.Errorf("%s per %s of %s", d.Unit, d.Per, d.SampleType)
	}
	for name, want := range map[string]Verdict{
		"main.slow": Better, "main.kept": Same, "main.vague": Unknown, "main.gone": Better, "main.added": Worse,
	} {
		if r := rowOf(t, d, name); r.Verdict != want {
			t.Errorf("%s: %s, want %s: %+v", name, r.Verdict, want, r)
		}
	}
	slow := rowOf(t, d, "main.slow")
	if math.Abs(slow.Old-9) > 1e-9 || math.Abs(slow.Difference.Value+5) > 1e-9 || math.Abs(*slow.Ratio-4.0/9) > 1e-9 || slow.In != "both" {
		t.Errorf("slow: %+v", slow)
	}
	if got := [2]float64{math.Round(slow.Events[0]), math.Round(slow.Events[1])}; got != [2]float64{9000, 4000} {
		t.Errorf("events %v", got)
	}
	if gone, added := rowOf(t, d, "main.gone"), rowOf(t, d, "main.added"); gone.In != "old" || added.In != "new" || added.Ratio != nil {
		t.Errorf("gone %+v, added %+v", gone, added)
	}
	if d.Counts != (DiffCounts{Moved: 3, Same: 1, Unknown: 1}) || d.Total.Verdict != Better {
		t.Errorf("%+v, total %+v", d.Counts, d.Total)
	}
	if d.Rows[0].Function != "main.slow" || d.Rows[3].Function != "main.vague" || d.Rows[4].Function != "main.kept" {
		t.Errorf("order: %+v", d.Rows)
	}
}

func TestDiffOfAProfileWithItself(t *testing.T) {
	p := cpuProfile(t, map[string]int64{"main.a": 100, "main.b": 1})
	d := diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{source(p, 1)}, []DiffSource{source(p, 1)})
	if d.Counts.Moved != 0 {
		t.Errorf("%+v", d.Rows)
	}
	if r := rowOf(t, d, "main.a"); r.Verdict != Unknown || r.P < 0.9 {
		t.Errorf("100 samples cannot tell within 1 %%: %+v", r)
	}
}

// A recording knows its requests; half of them at the same CPU is twice the cost.
func TestDiffPerRequest(t *testing.T) {
	recorded := func(requests int64) DiffSource {
		s := source(cpuProfile(t, map[string]int64{"main.a": 1000}), 1)
		s.Recording = &recording.Manifest{
			Load:   &recording.Load{},
			Phases: []recording.Phase{{Name: "cpu", Seconds: 10, Requests: requests}},
			Parts:  []recording.Part{{Name: "cpu.pprof", Phase: "cpu"}},
		}
		s.Part = "cpu.pprof"
		return s
	}
	d := diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{recorded(20_000)}, []DiffSource{recorded(10_000)})
	r := rowOf(t, d, "main.a")
	if d.Per != "request" || math.Abs(r.Old-500e-6) > 1e-12 || math.Abs(r.New-1e-3) > 1e-12 || r.Verdict != Worse {
		t.Errorf("per %s: %+v", d.Per, r)
	}
	// If one side is a plain profile, both are compared per second.
	d = diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{recorded(20_000)}, []DiffSource{source(cpuProfile(t, map[string]int64{"main.a": 1000}), 1)})
	if d.Per != "second" || len(d.Notes) == 0 {
		t.Errorf("per %s, notes %q", d.Per, d.Notes)
	}
	if factor, per := Scale(recorded(20_000), recorded(10_000)); factor != 0.5 || per != "request" {
		t.Errorf("costs of 20,000 requests are scaled by %v per %s to those of 10,000", factor, per)
	}
}

// A benchmark runs for a given time, so costs are compared per operation: twice the operations at
// the same CPU is half the cost.
func TestDiffPerOperation(t *testing.T) {
	recorded := func(iterations ...int64) DiffSource {
		s := source(cpuProfile(t, map[string]int64{"main.a": 1000}), 1)
		phase := recording.Phase{Name: "cpu", Seconds: 10, Runs: 5}
		for i, n := range iterations {
			phase.Benchmarks = append(phase.Benchmarks, recording.Benchmark{
				Name: fmt.Sprintf("B%d", i), Samples: []recording.BenchSample{{Iterations: n / 2}, {Iterations: n / 2}},
			})
		}
		s.Recording = &recording.Manifest{
			Target: recording.Target{Bench: "."},
			Phases: []recording.Phase{phase},
			Parts:  []recording.Part{{Name: "cpu.pprof", Phase: "cpu"}},
		}
		s.Part = "cpu.pprof"
		return s
	}
	d := diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{recorded(10_000)}, []DiffSource{recorded(20_000)})
	if r := rowOf(t, d, "main.a"); d.Per != "operation" || math.Abs(r.Old-1e-3) > 1e-12 || math.Abs(r.New-500e-6) > 1e-12 || r.Verdict != Better {
		t.Errorf("per %s: %+v", d.Per, r)
	}
	// Operations of different benchmarks do not add up.
	d = diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{recorded(10_000, 10)}, []DiffSource{recorded(20_000, 20)})
	if d.Per != "second" || len(d.Notes) == 0 || !strings.Contains(d.Notes[0], "several benchmarks") {
		t.Errorf("per %s, notes %q", d.Per, d.Notes)
	}
}

func TestDiffByTotals(t *testing.T) {
	old := cpuProfile(t, map[string]int64{"main.a": 3000, "main.b": 1000})
	new := cpuProfile(t, map[string]int64{"main.a": 1000, "main.b": 1000})
	old.DurationNanos = 0
	d := diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{source(old, 1)}, []DiffSource{source(new, 1)})
	if r := rowOf(t, d, "main.a"); d.Per != "total" || r.Old != 0.75 || r.New != 0.5 || r.Verdict != Better || d.Total != nil {
		t.Errorf("per %s: %+v, total %+v", d.Per, r, d.Total)
	}
}

// If runs differ by more than sampling explains, the spread between profiles is used.
func TestDiffOfSetsUsesTheirSpread(t *testing.T) {
	set := func(ns ...int64) (out []DiffSource) {
		for _, n := range ns {
			out = append(out, source(cpuProfile(t, map[string]int64{"main.a": n, "main.b": 2000}), 1))
		}
		return out
	}
	o := DiffOptions{Threshold: 0.001}
	wild := diffOf(t, o, set(1000, 2000, 3000), set(1800, 2800, 3800))
	if r := rowOf(t, wild, "main.a"); r.Verdict != Unknown || r.Difference.Low > 0 {
		t.Errorf("wild: %+v", r)
	}
	steady := diffOf(t, o, set(1990, 2000, 2010), set(2790, 2800, 2810))
	if r := rowOf(t, steady, "main.a"); r.Verdict != Worse {
		t.Errorf("steady: %+v", r)
	}
	// Two profiles that agree by chance still have a spread.
	few := diffOf(t, o, set(10, 10), set(14, 14))
	if r := rowOf(t, few, "main.a"); r.Verdict != Unknown {
		t.Errorf("few: %+v", r)
	}
}

func TestDiffWithoutSamplingCannotTell(t *testing.T) {
	wall := func(v int64) DiffSource {
		b := profile.NewBuilder(profile.ValueType{Type: "wall", Unit: "milliseconds"})
		b.Add([]profile.FrameSpec{{Function: "main.a"}}, v)
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		p.DurationNanos = 1e9
		return source(p, 0)
	}
	d := diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{wall(1000)}, []DiffSource{wall(9000)})
	if r := rowOf(t, d, "main.a"); r.Verdict != Unknown || r.Events != nil || r.New != 9 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(strings.Join(d.Notes, "\n"), "do not say how their values were sampled") {
		t.Errorf("notes %q", d.Notes)
	}
	d = diffOf(t, DiffOptions{Threshold: 0.01}, []DiffSource{wall(1000), wall(1010), wall(990)}, []DiffSource{wall(9000), wall(9010), wall(8990)})
	if r := rowOf(t, d, "main.a"); r.Verdict != Worse {
		t.Errorf("sets: %+v", r)
	}
}

func TestDiffGate(t *testing.T) {
	old := cpuProfile(t, map[string]int64{"main.a": 9000, "main.b": 1000})
	worse := cpuProfile(t, map[string]int64{"main.a": 9000, "main.b": 2000})
	o := DiffOptions{Threshold: 0.05}
	g := diffOf(t, o, []DiffSource{source(old, 1)}, []DiffSource{source(worse, 1)}).Gate()
	if len(g.Worse) != 2 || g.Worse[0].Function != "" || g.Worse[1].Function != "main.b" {
		t.Errorf("worse: %+v", g.Worse)
	}
	if g := diffOf(t, o, []DiffSource{source(worse, 1)}, []DiffSource{source(old, 1)}).Gate(); len(g.Worse)+len(g.Unknown) != 0 {
		t.Errorf("better: %+v", g)
	}
	if g := diffOf(t, o, []DiffSource{source(old, 1)}, []DiffSource{source(old, 1)}).Gate(); len(g.Worse)+len(g.Unknown) != 0 {
		t.Errorf("itself at 5 %%: %+v", g)
	}
	small := cpuProfile(t, map[string]int64{"main.a": 9, "main.b": 1})
	if g := diffOf(t, o, []DiffSource{source(small, 1)}, []DiffSource{source(small, 1)}).Gate(); len(g.Worse) != 0 || len(g.Unknown) == 0 {
		t.Errorf("ten samples: %+v", g)
	}
}

// However few rows are kept, all are counted, and what moved is not left out.
func TestDiffLimit(t *testing.T) {
	old := map[string]int64{"main.slow": 9000}
	for i := range 20 {
		old["main.kept"+string(rune('a'+i))] = 20
	}
	new := map[string]int64{"main.slow": 4000, "main.added": 900}
	for name, n := range old {
		if name != "main.slow" {
			new[name] = n
		}
	}
	o := DiffOptions{Options: pairing.Options{Paths: true}, Threshold: 0.01, Limit: 5}
	d := diffOf(t, o, []DiffSource{source(cpuProfile(t, old), 1)}, []DiffSource{source(cpuProfile(t, new), 1)})
	if d.Counts != (DiffCounts{Moved: 2, Same: 20}) || len(d.Rows) != 7 {
		t.Errorf("%+v, %d rows", d.Counts, len(d.Rows))
	}
	for _, r := range d.Rows {
		if len(r.Path) != 2 || r.Path[0] != "main.main" || r.Path[1] != r.Function {
			t.Errorf("path %q of %s", r.Path, r.Function)
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	samples := func() map[string]int64 {
		m := map[string]int64{}
		for i := range 5000 {
			m["example.com/x.f"+strconv.Itoa(i)] = r.Int64N(1 + 20_000/int64(i+1))
		}
		return m
	}
	old, new := []DiffSource{source(cpuProfile(b, samples()), 1)}, []DiffSource{source(cpuProfile(b, samples()), 1)}
	b.ReportAllocs()
	for b.Loop() {
		diffOf(b, DiffOptions{Threshold: DefaultThreshold}, old, new)
	}
}

func TestDiffRefuses(t *testing.T) {
	if _, err := NewDiffer(DiffOptions{Threshold: math.NaN()}); err == nil {
		t.Error("a threshold of NaN")
	}
	d, err := NewDiffer(DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := cpuProfile(t, map[string]int64{"main.a": 1})
	if err := d.AddOld(source(p, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Diff(); err == nil || !strings.Contains(err.Error(), "an old and a new") {
		t.Errorf("one side: %v", err)
	}
	if err := d.AddNew(source(p, 0)); err == nil || !strings.Contains(err.Error(), "samples/count beside one of cpu/nanoseconds") {
		t.Errorf("another type: %v", err)
	}
	empty := cpuProfile(t, nil)
	empty.DurationNanos = 0
	if err := d.AddNew(source(empty, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Diff(); err == nil || !strings.Contains(err.Error(), "has no cpu") {
		t.Errorf("an empty profile by totals: %v", err)
	}
}

// resampled draws every function's samples again around their mean: two such profiles are two
// undisturbed recordings of one program.
func resampled(t testing.TB, r *rand.Rand, names []string, mean []float64) *profile.Profile {
	samples := map[string]int64{}
	for i, name := range names {
		n := int64(-1)
		for at := 0.0; at < mean[i]; n++ {
			at += r.ExpFloat64()
		}
		if n > 0 {
			samples[name] = n
		}
	}
	return cpuProfile(t, samples)
}

// noisy varies the means as a run does: all of them together, and each of them.
func noisy(r *rand.Rand, mean []float64, sd float64) []float64 {
	out, all := make([]float64, len(mean)), math.Exp(sd*r.NormFloat64())
	for i, m := range mean {
		out[i] = m * all * math.Exp(sd*r.NormFloat64())
	}
	return out
}

// The promise: of comparisons of a program with itself, at most 1 in 40 reports that anything
// moved. There are hundreds of them, with the shape of real profiles: few expensive functions and a
// long tail.
func TestFalseAlarmsOfSelfComparison(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	var names []string
	var mean []float64
	for i := range 60 {
		names = append(names, "main.f"+string(rune('A'+i/26))+string(rune('a'+i%26)))
		mean = append(mean, 400/math.Pow(float64(i+1), 1.2))
	}
	const trials = 240
	for _, c := range []struct {
		what     string
		duration bool
		measure  pairing.Measure
		profiles int
		noise    float64 // of runs, and of each row in a run: standard deviations of the logarithm
	}{
		{"per second", true, pairing.Own, 1, 0}, {"by totals", false, pairing.Own, 1, 0},
		{"cumulative", true, pairing.Cum, 1, 0}, {"sets of three", true, pairing.Own, 3, 0},
		{"sets of three noisy runs", true, pairing.Own, 3, 0.1},
	} {
		alarms := 0
		for range trials {
			var sides [2][]DiffSource
			for i := range 2 * c.profiles {
				p := resampled(t, r, names, noisy(r, mean, c.noise))
				if !c.duration {
					p.DurationNanos = 0
				}
				sides[i%2] = append(sides[i%2], source(p, 1))
			}
			d := diffOf(t, DiffOptions{Options: pairing.Options{Measure: c.measure}, Threshold: 0.001}, sides[0], sides[1])
			if d.Counts.Moved > 0 || d.Total != nil && d.Total.Verdict != Same && d.Total.Verdict != Unknown {
				alarms++
			}
		}
		got := float64(alarms) / trials
		t.Logf("%s: %.2f %% false alarms", c.what, 100*got)
		if got > DiffLevel {
			t.Errorf("%s: %.2f %% of self-comparisons call something moved, allowed %.1f %%", c.what, 100*got, 100*DiffLevel)
		}
	}
}

// A function of 5 % that doubled its cost is nearly always found.
func TestDiffFindsADoubledFunction(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	names := []string{"main.a", "main.b", "main.c", "main.d", "main.e"}
	before, after := []float64{500, 200, 150, 100, 50}, []float64{500, 200, 150, 100, 100}
	found := 0
	for range 200 {
		d := diffOf(t, DiffOptions{Threshold: 0.01},
			[]DiffSource{source(resampled(t, r, names, before), 1)}, []DiffSource{source(resampled(t, r, names, after), 1)})
		if rowOf(t, d, "main.e").Verdict == Worse {
			found++
		}
	}
	if found < 160 {
		t.Errorf("found in %d of 200", found)
	}
}
