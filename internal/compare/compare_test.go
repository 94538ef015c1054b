package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// manifest returns a recording of a service whose clean phase has ten windows of 1000 requests,
// with the given CPU seconds per window, on a machine where nothing else runs.
func manifest(cpu float64, jitter float64) recording.Manifest {
	p := recording.Phase{Name: recording.PhaseClean, Seconds: 10, Verdict: "ok", MachineCPUSeconds: 10*cpu + 1}
	for i := range 10 {
		w := recording.Window{Seconds: 1, Requests: 1000, CPUSeconds: cpu * (1 + jitter*math.Sin(float64(i)*2.3)), AllocBytes: 100 << 20, AllocObjects: 5e6}
		p.Windows = append(p.Windows, w)
		p.Requests += w.Requests
		p.CPUSeconds += w.CPUSeconds
		p.AllocBytes += w.AllocBytes
		p.AllocObjects += w.AllocObjects
	}
	m := recording.Manifest{Phases: []recording.Phase{p}}
	m.Target = recording.Target{Kind: "service", ImportPath: "example.com/x", Args: []string{"-addr", "127.0.0.1:8080"}}
	m.Runtime = recording.Runtime{Module: "example.com/x", Go: "go1.26.8", GOMAXPROCS: 4, GOGC: 100}
	m.Machine = recording.Machine{CPU: "Some CPU", Cores: 4}
	m.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1:8080/x?a=1"}, Connections: 8}
	return m
}

// program returns a recording of n runs of a program that runs and exits.
func program(n int, cpu float64, objects int64) recording.Manifest {
	m := manifest(1, 0)
	p := recording.Phase{Name: recording.PhaseClean, Runs: n, MachineCPUSeconds: cpu * float64(n)}
	for range n {
		w := recording.Window{Seconds: 2 * cpu, CPUSeconds: cpu, AllocBytes: 16 * objects, AllocObjects: objects}
		p.Windows = append(p.Windows, w)
		p.Seconds += w.Seconds
		p.CPUSeconds += w.CPUSeconds
		p.AllocBytes += w.AllocBytes
		p.AllocObjects += w.AllocObjects
	}
	m.Target = recording.Target{Kind: "program", ImportPath: "example.com/x"}
	m.Load = nil
	m.Phases = []recording.Phase{p}
	return m
}

// bench returns a recording of benchmarks, three processes each, from seconds, bytes and objects
// per operation.
func bench(rows map[string][3]float64, names ...string) recording.Manifest {
	m := program(3, 1, 0)
	m.Target.Kind, m.Target.Bench = "bench", "."
	p := &m.Phases[0]
	for _, name := range names {
		v := rows[name]
		b := recording.Benchmark{Name: name}
		for run := 1; run <= 3; run++ {
			b.Samples = append(b.Samples, recording.BenchSample{Run: run, Iterations: 1000, SecondsPerOp: v[0], BytesPerOp: &v[1], AllocsPerOp: &v[2]})
		}
		p.Benchmarks = append(p.Benchmarks, b)
	}
	return m
}

func single(name string, m recording.Manifest) []Source { return []Source{{name, m}} }

func compared(t *testing.T, old, new []Source, o Options) *Comparison {
	t.Helper()
	c, err := Recordings(old, new, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func row(t *testing.T, c *Comparison, metric string) Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Metric == metric || r.Name+" "+r.Metric == metric {
			return r
		}
	}
	t.Fatalf("no row %q in %+v", metric, c.Rows)
	return Row{}
}

func wantVerdicts(t *testing.T, c *Comparison, want map[string]Verdict) {
	t.Helper()
	for metric, v := range want {
		if r := row(t, c, metric); r.Verdict != v {
			t.Errorf("%s: %s, want %s: %+v", metric, r.Verdict, v, r)
		}
	}
}

func TestRecordingsVerdicts(t *testing.T) {
	less := manifest(0.6, 0.02)
	for i := range less.Phases[0].Windows {
		less.Phases[0].Windows[i].AllocBytes = 98 << 20
	}
	less.Phases[0].AllocBytes = 980 << 20
	for _, tc := range []struct {
		name     string
		old, new recording.Manifest
		want     map[string]Verdict
	}{
		{"a third less CPU is better", manifest(0.9, 0.02), manifest(0.58, 0.02), map[string]Verdict{"cpu": Better}},
		{"half as much again is worse", manifest(0.6, 0.02), manifest(0.93, 0.02), map[string]Verdict{"cpu": Worse}},
		// One run per side does not show by how much runs differ, however little its windows vary.
		{"a quarter more may be chance", manifest(0.6, 0.005), manifest(0.75, 0.005), map[string]Verdict{"cpu": Unknown, "allocated": Same}},
		{"2 % less allocated is seen", manifest(0.6, 0.02), less, map[string]Verdict{"cpu": Unknown, "allocated": Better, "allocations": Same}},
		{"wild windows widen", manifest(0.9, 0.8), manifest(0.6, 0.8), map[string]Verdict{"cpu": Unknown}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wantVerdicts(t, compared(t, single("old", tc.old), single("new", tc.new), Options{}), tc.want)
		})
	}
}

// Other processes, the hypervisor and CPU quotas widen the intervals: a change that is significant
// on a quiet machine has no verdict here, nor has a service that became slower because it had fewer
// cores.
func TestBusyMachinesWiden(t *testing.T) {
	busy := func(m recording.Manifest) recording.Manifest {
		p := &m.Phases[0]
		p.MachineCPUSeconds = 4 * p.Seconds
		return m
	}
	slow := busy(manifest(0.9, 0.02))
	slow.Phases[0].Seconds *= 2.5
	slow.Phases[0].MachineCPUSeconds *= 2.5
	c := compared(t, single("old", manifest(0.9, 0.02)), single("new", slow), Options{})
	wantVerdicts(t, c, map[string]Verdict{"throughput": Unknown})
	if text := strings.Join(c.Notes, "\n"); !strings.Contains(text, "other processes kept 3.6 of 4 cores busy during new") {
		t.Errorf("notes\n%s", text)
	}
	quiet := compared(t, single("old", manifest(0.9, 0.02)), single("new", manifest(0.6, 0.02)), Options{})
	c = compared(t, single("old", manifest(0.9, 0.02)), single("new", busy(manifest(0.6, 0.02))), Options{})
	if row(t, c, "cpu").Floor < 1.2*row(t, quiet, "cpu").Floor {
		t.Errorf("floor %v on a busy machine, %v on a quiet one", row(t, c, "cpu").Floor, row(t, quiet, "cpu").Floor)
	}
	wantVerdicts(t, c, map[string]Verdict{"allocated": Same})

	held := manifest(0.9, 0.02)
	held.Phases[0].Throttled = 5
	c = compared(t, single("old", manifest(0.9, 0.02)), single("new", held), Options{})
	if row(t, c, "throughput").Floor < 2*row(t, quiet, "throughput").Floor {
		t.Errorf("throughput has the floor %v with a quota, %v without", row(t, c, "throughput").Floor, row(t, quiet, "throughput").Floor)
	}
}

// Of pairs of runs of one program that differ as measured runs do, and whose windows are nearly
// equal, at most 1 in 40 gets a verdict; the windows alone would give one to most.
func TestSameProgramGetsNoVerdict(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const pairs = 400
	for _, a := range []int{1, 3} {
		wrong := 0
		for range pairs {
			var sides [2][]Source
			for i := range 2 * a {
				m := manifest(0.6*math.Exp(0.08*rng.NormFloat64()), 0.005)
				m.Created = time.Unix(int64(i), 0)
				sides[i%2] = append(sides[i%2], Source{fmt.Sprint(i), m})
			}
			for _, r := range compared(t, sides[0], sides[1], Options{}).Rows {
				if r.Verdict == Better || r.Verdict == Worse {
					wrong++
				}
			}
		}
		t.Logf("%d per side: %d verdicts in %d pairs", a, wrong, pairs)
		if wrong > pairs/40 {
			t.Errorf("%d per side: %d verdicts in %d pairs of one program", a, wrong, pairs)
		}
	}
}

// Several recordings per side show how much runs differ: three that agree find what one cannot, and
// three that vary are believed.
func TestSeveralRecordingsASide(t *testing.T) {
	side := func(at int, cpus ...float64) (list []Source) {
		for i, cpu := range cpus {
			m := manifest(cpu, 0.005)
			m.Created = time.Unix(int64(at+2*i), 0)
			list = append(list, Source{fmt.Sprint(at, i), m})
		}
		return list
	}
	one := compared(t, side(0, 0.60), side(1, 0.78), Options{})
	three := compared(t, side(0, 0.60, 0.605, 0.595), side(1, 0.78, 0.775, 0.785), Options{})
	wild := compared(t, side(0, 0.40, 0.60, 0.80), side(1, 0.78, 0.58, 0.98), Options{})
	apart := compared(t, side(0, 0.60, 0.605, 0.595), side(9, 0.78, 0.775, 0.785), Options{})
	wantVerdicts(t, one, map[string]Verdict{"cpu": Unknown})
	wantVerdicts(t, three, map[string]Verdict{"cpu": Worse, "allocated": Same})
	wantVerdicts(t, wild, map[string]Verdict{"cpu": Unknown})
	if row(t, apart, "cpu").Floor <= row(t, three, "cpu").Floor {
		t.Error("recording one side after the other is as good as alternating")
	}
	if n := row(t, three, "cpu").N; n != [2]int{3, 3} {
		t.Errorf("samples per side: %v, want recordings", n)
	}
}

// What every process allocates equally is compared exactly, with two or more runs per side; where
// runs differ a little, one run per side is enough for a large change.
func TestExactAllocations(t *testing.T) {
	c := compared(t, single("old", program(2, 1, 1_000_000)), single("new", program(2, 1.01, 999_999)), Options{})
	wantVerdicts(t, c, map[string]Verdict{"allocations": Better, "cpu": Unknown})
	if r := row(t, c, "allocations"); !r.Exact || *r.Low != *r.High {
		t.Errorf("%+v", r)
	}
	c = compared(t, single("old", program(2, 1, 1_000_000)), single("new", program(2, 1, 1_000_000)), Options{})
	wantVerdicts(t, c, map[string]Verdict{"allocations": Same, "allocated": Same})

	c = compared(t, single("old", program(1, 1, 1_000_000)), single("new", program(1, 1, 1_003_000)), Options{})
	wantVerdicts(t, c, map[string]Verdict{"allocations": Same})
	c = compared(t, single("old", program(1, 1, 1_000_000)), single("new", program(1, 1, 1_030_000)), Options{})
	wantVerdicts(t, c, map[string]Verdict{"allocations": Worse})
	// Of so few objects, the runtime's own are a large share.
	c = compared(t, single("old", program(1, 1, 1000)), single("new", program(1, 1, 1200)), Options{})
	wantVerdicts(t, c, map[string]Verdict{"allocations": Unknown})
}

// Benchmarks are compared by name; those of one side only are listed, and without a common
// benchmark there is no comparison.
func TestBenchmarksAreMatchedByName(t *testing.T) {
	rows := map[string][3]float64{"A-2": {1e-6, 100, 3}, "B-2": {1e-3, 5000, 40}, "C-2": {2e-6, 0, 0}, "D-2": {3e-6, 16, 1}}
	old := bench(rows, "A-2", "B-2", "C-2")
	rows["B-2"], rows["C-2"] = [3]float64{0.4e-3, 5001, 41}, [3]float64{2e-6, 8, 1}
	new := bench(rows, "B-2", "C-2", "D-2")
	c := compared(t, single("old", old), single("new", new), Options{})
	wantVerdicts(t, c, map[string]Verdict{
		"B-2 time": Better, "B-2 allocations": Worse, "B-2 allocated": Same, "C-2 time": Unknown, "C-2 allocations": Worse, "C-2 allocated": Worse,
	})
	if r := row(t, c, "C-2 allocations"); r.Ratio != nil {
		t.Errorf("from nothing to something has no ratio: %v", *r.Ratio)
	}
	if len(c.Rows) != 6 || fmt.Sprint(c.OnlyOld, c.OnlyNew) != "[A-2] [D-2]" {
		t.Errorf("%d rows, only old %v, only new %v", len(c.Rows), c.OnlyOld, c.OnlyNew)
	}
	_, err := Recordings(single("old", bench(rows, "A-2")), single("new", bench(rows, "D-2")), Options{})
	if err == nil || !strings.Contains(err.Error(), "no metric in common: the old side ran the benchmarks A-2, the new D-2") {
		t.Errorf("nothing in common: %v", err)
	}
	if _, err := Recordings(single("old", bench(nil)), single("new", bench(rows, "A-2")), Options{}); err == nil || !strings.Contains(err.Error(), "record it again") {
		t.Errorf("without rows: %v", err)
	}
}

func TestRecordingsRefusesWhatDiffers(t *testing.T) {
	change := func(f func(*recording.Manifest)) recording.Manifest {
		m := manifest(0.6, 0)
		l := *m.Load
		m.Load = &l
		f(&m)
		return m
	}
	for name, m := range map[string]recording.Manifest{
		"module":               change(func(m *recording.Manifest) { m.Runtime.Module, m.Target.ImportPath = "example.com/y", "example.com/y" }),
		"arguments":            change(func(m *recording.Manifest) { m.Target.Args = []string{"-addr", "127.0.0.1:8080", "-fast"} }),
		"/y?a=1":               change(func(m *recording.Manifest) { m.Load.Targets = []string{"GET http://127.0.0.1:8080/y?a=1"} }),
		"POST":                 change(func(m *recording.Manifest) { m.Load.Targets = []string{"POST http://127.0.0.1:8080/x?a=1"} }),
		"100/s":                change(func(m *recording.Manifest) { m.Load.Rate = 100 }),
		"9 connections":        change(func(m *recording.Manifest) { m.Load.Connections = 9 }),
		"kind of target":       program(3, 1, 1000),
		"service and bench":    bench(map[string][3]float64{"A": {1, 1, 1}}, "A"),
		"headers and bodies":   change(func(m *recording.Manifest) { m.Load.Digest = "abc" }),
		"example.com/x, 2 cmd": change(func(m *recording.Manifest) { m.Load = nil; m.Target.ImportPath = "example.com/x/cmd/b" }),
	} {
		t.Run(name, func(t *testing.T) {
			old := change(func(m *recording.Manifest) { m.Load.Digest = "def" })
			if name != "headers and bodies" {
				old.Load.Digest = ""
			}
			if m.Load == nil && m.Target.Kind == "service" {
				old.Load = nil
			}
			_, err := Recordings(single("a", old), single("b", m), Options{})
			var different *DifferentError
			if !errors.As(err, &different) || !strings.Contains(err.Error(), "-force") {
				t.Fatalf("not refused: %v", err)
			}
			if c, err := Recordings(single("a", old), single("b", m), Options{Force: true}); err == nil {
				if text := strings.Join(c.Notes, "\n"); !strings.Contains(text, "because of -force") {
					t.Errorf("forced without a word: %s", text)
				}
			}
		})
	}
	if _, err := Recordings(single("a", recording.Manifest{}), single("b", manifest(1, 0)), Options{}); err == nil || !strings.Contains(err.Error(), "no clean phase") {
		t.Errorf("without a clean phase: %v", err)
	}
	same := change(func(m *recording.Manifest) { m.ID = "1" })
	if _, err := Recordings(single("a", same), single("b", same), Options{}); err == nil || !strings.Contains(err.Error(), "the same recording") {
		t.Errorf("with itself: %v", err)
	}
}

// A difference that the user may want to compare is noted; the port that a service listens on is
// ignored.
func TestRecordingsNotesWhatDiffers(t *testing.T) {
	m := manifest(0.6, 0)
	m.Target.Args = []string{"-addr", "127.0.0.1:9090"}
	m.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1:9090/x?a=1"}, Connections: 8}
	m.Target.Dir = "/elsewhere"
	if c := compared(t, single("a", manifest(0.6, 0)), single("b", m), Options{}); len(c.Differences) > 0 {
		t.Errorf("another port: %v", c.Differences)
	}
	m.Runtime.GOGC, m.Runtime.Go, m.Target.ImportPath = 400, "go1.27.0", "example.com/x/v2"
	c := compared(t, single("a", manifest(0.6, 0)), single("b", m), Options{})
	text := strings.Join(c.Notes, "\n")
	for _, want := range []string{"GOGC: 100 and 400", "Go version: go1.26.8 and go1.27.0", "package: example.com/x and example.com/x/v2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	// Between two machines, only allocations are compared.
	m = manifest(0.3, 0)
	m.Machine.CPU = "Another CPU"
	wantVerdicts(t, compared(t, single("a", manifest(0.9, 0)), single("b", m), Options{}), map[string]Verdict{"cpu": Unknown, "allocated": Same})
	wantVerdicts(t, compared(t, single("a", manifest(0.9, 0)), single("b", m), Options{Force: true}), map[string]Verdict{"cpu": Better})
}

// Figures that the load generator or another machine determined get no verdict.
func TestNoVerdictOnTheLoadsOwnFigures(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*recording.Manifest)
		want   map[string]Verdict
	}{
		{"the generator was the limit", func(m *recording.Manifest) { m.Phases[0].Verdict = "generator-limited" }, map[string]Verdict{"throughput": Unknown, "cpu": Better}},
		{"requests failed", func(m *recording.Manifest) { m.Phases[0].Failed = 5000 }, map[string]Verdict{"throughput": Unknown, "cpu": Unknown}},
		{"all as it should be", func(*recording.Manifest) {}, map[string]Verdict{"throughput": Better, "cpu": Better}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old, new := manifest(0.9, 0.01), manifest(0.9, 0.01)
			for i := range new.Phases[0].Windows {
				new.Phases[0].Windows[i].Requests *= 2
			}
			new.Phases[0].Requests *= 2
			tc.change(&new)
			wantVerdicts(t, compared(t, single("old", old), single("new", new), Options{}), tc.want)
		})
	}
	old, new := manifest(0.9, 0.01), manifest(0.5, 0.01)
	old.Load = &recording.Load{Targets: old.Load.Targets, Connections: 8, Rate: 2000}
	new.Load = old.Load
	c := compared(t, single("old", old), single("new", new), Options{})
	wantVerdicts(t, c, map[string]Verdict{"cpu": Unknown})
	if r := row(t, c, "cpu"); !strings.Contains(r.Why, "answered 1000 of 2000 requests/s") {
		t.Errorf("why: %q", r.Why)
	}
}
