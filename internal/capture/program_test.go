package capture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// programLab is a lab whose target exits after length.
func programLab(t *testing.T, length time.Duration, change func(n int, s target.RunSpec, p *fakeProgram)) *lab {
	l := newLab(t)
	l.o.Load = nil
	l.start = func(s target.RunSpec) process {
		p := newFake()
		p.parts, p.missing = map[string][]byte{}, map[string]string{}
		if s.Collect.CPU {
			p.parts["cpu"] = cpuProfile(3)
			p.parts["heap.start"], p.parts["heap.end"] = heapProfile(10), heapProfile(110)
			p.parts["goroutine"] = waitProfile(1)
		}
		if s.Collect.Contention {
			p.parts["block"], p.parts["mutex"] = waitProfile(2), waitProfile(0)
		}
		if s.Collect.Trace {
			p.parts["trace"] = []byte("go 1.26 trace\x00\x00\x00")
		}
		os.WriteFile(s.Stdout, fmt.Appendf(nil, "run %d\n", len(l.runs)), 0o644)
		exit := target.Exit{Wall: length, Usage: target.Usage{CPUSeconds: 2 * length.Seconds(), MaxRSS: 5 << 20, ChildCPUSeconds: 4, SystemSeconds: 0.01, PageFaults: 5},
			Heap: target.Heap{AllocBytes: 6, AllocObjects: 7, GCCycles: 8}}
		if change != nil {
			p.exit = exit
			change(len(l.runs), s, p)
			exit = p.exit
		}
		if length > 0 {
			time.AfterFunc(length, func() { p.end(exit) })
		}
		return p
	}
	return l
}

func TestProgramThatExits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 30*time.Millisecond, nil)
		l.world.tick = time.Hour // no time for metrics
		partial, err := l.record(t.Context())
		if err != nil || partial {
			t.Fatal(partial, err)
		}
		r := l.open()
		m := r.Manifest
		if !m.Complete || m.Target.Kind != "program" || m.Target.ExitCode == nil || *m.Target.ExitCode != 0 {
			t.Errorf("%+v", m.Target)
		}
		if d := cmp.Diff([]string{"clean", "cpu", "contention", "trace"}, phaseNames(m)); d != "" {
			t.Errorf("phases (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string{"allocs.pprof", "block.pprof", "buildinfo.txt", "cpu.pprof", "goroutine.pprof", "heap.pprof", "mutex.pprof",
			"stdout.txt", "trace.out"}, partNames(m)); d != "" {
			t.Errorf("parts (-want +got):\n%s", d)
		}
		runs := 0
		for _, p := range m.Phases {
			if p.Runs < 1 || len(p.Windows) != p.Runs || p.Requests != 0 || p.RSSBytes != 5<<20 {
				t.Errorf("phase %s: %+v", p.Name, p)
			}
			n := int64(p.Runs)
			if p.ChildCPUSeconds != float64(4*n) || math.Abs(p.SystemCPUSeconds-0.01*float64(n)) > 1e-9 || p.PageFaults != 5*n ||
				p.AllocBytes != 6*n || p.AllocObjects != 7*n || p.GCCycles != 8*n || p.Windows[0].AllocBytes != 6 || p.Windows[0].AllocObjects != 7 {
				t.Errorf("phase %s of %d runs: %+v", p.Name, n, p)
			}
			if p.Name == "cpu" {
				if n := total(t, r, "cpu.pprof", "samples"); n != int64(3*p.Runs) {
					t.Errorf("%d samples from %d runs of 3", n, p.Runs)
				}
				if n := total(t, r, "allocs.pprof", "alloc_objects"); n != int64(100*p.Runs) {
					t.Errorf("%d objects from %d runs of 100", n, p.Runs)
				}
				if p.Runs < 2 || p.ForcedGC != int64(2*p.Runs) {
					t.Errorf("%d runs, %d forced collections", p.Runs, p.ForcedGC)
				}
			}
			runs += p.Runs
		}
		if runs != len(l.runs) {
			t.Errorf("%d runs in the phases, %d were made", runs, len(l.runs))
		}
		if b, err := r.Bytes("stdout.txt"); string(b) != "run 1\n" || err != nil {
			t.Errorf("stdout.txt is %q, %v: want the first run's", b, err)
		}
		if w := why(m, "goroutine.txt"); !strings.Contains(w, "exited first") {
			t.Errorf("goroutine.txt is missing because %q", w)
		}
	})
}

// TestLongProgram: a program that takes longer than a phase's share runs once per phase, and its
// metrics are logged.
func TestLongProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 60*time.Millisecond, nil)
		l.o.Duration = 100 * time.Millisecond
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		for _, p := range m.Phases {
			if p.Runs != 1 || p.Observer != nil {
				t.Errorf("phase %s: %d runs, observer %+v", p.Name, p.Runs, p.Observer)
			}
		}
		if w := why(m, "metrics.jsonl"); w != "" {
			t.Errorf("metrics.jsonl is missing because %q", w)
		}
	})
}

func TestProgramFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		run   int // the run that fails
		want  string
		parts []string
	}{
		{"at once", 1, "the program failed: exit code 3; last lines on stderr: bad input", []string{"buildinfo.txt", "stdout.txt"}},
		{"under the profiler", 2, "the program failed in phase cpu, run 1: exit code 3", []string{"allocs.pprof", "buildinfo.txt", "cpu.pprof", "goroutine.pprof", "heap.pprof", "stdout.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := programLab(t, 100*time.Millisecond, func(n int, _ target.RunSpec, p *fakeProgram) {
					if n == tt.run {
						p.exit.Code, p.exit.Stderr = 3, []string{"bad input"}
						p.exit.Usage.CPUSeconds = finishedCPU / 2
					}
				})
				l.o.Duration = 200 * time.Millisecond // one clean run
				l.world.tick = time.Hour              // no time for metrics
				partial, err := l.record(t.Context())
				if !partial || err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("partial %v, error %v", partial, err)
				}
				m := l.open().Manifest
				if d := cmp.Diff(tt.parts, partNames(m)); d != "" {
					t.Errorf("parts (-want +got):\n%s", d)
				}
				if c := m.Target.ExitCode; c == nil || *c != 3 {
					t.Errorf("exit code %v", c)
				}
			})
		})
	}
}

func TestProgramThatWorksAndThenFailsIsMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 100*time.Millisecond, func(_ int, _ target.RunSpec, p *fakeProgram) {
			p.exit.Code = 1
			p.exit.Usage.CPUSeconds = 2 * finishedCPU
		})
		l.o.Duration = 200 * time.Millisecond
		partial, err := l.record(t.Context())
		if partial || err != nil {
			t.Fatalf("partial %v, error %v", partial, err)
		}
		m := l.open().Manifest
		if c := m.Target.ExitCode; c == nil || *c != 1 || !m.Complete {
			t.Errorf("exit code %v, complete %v", c, m.Complete)
		}
		if !slices.Contains(m.Notes, "the program exits with code 1") {
			t.Errorf("notes %q", m.Notes)
		}
	})
}

func TestProgramDoesNotExit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 0, nil)
		l.o.Timeout = 50 * time.Millisecond
		partial, err := l.record(t.Context())
		if !partial || err == nil || !strings.Contains(err.Error(), "did not exit within 50ms") {
			t.Errorf("partial %v, error %v", partial, err)
		}
	})
}

func TestProgramInterrupted(t *testing.T) {
	for _, run := range []int{1, 2, 3} { // clean, cpu, contention
		t.Run(fmt.Sprint("run ", run), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				l := programLab(t, 80*time.Millisecond, func(n int, _ target.RunSpec, _ *fakeProgram) {
					if n == run {
						time.AfterFunc(10*time.Millisecond, cancel)
					}
				})
				l.o.Duration = 100 * time.Millisecond
				partial, err := l.record(ctx)
				if !partial || !errors.Is(err, context.Canceled) {
					t.Fatalf("partial %v, error %v", partial, err)
				}
				if len(l.runs) != run {
					t.Errorf("%d runs after the interrupt in run %d", len(l.runs), run)
				}
				// What the interrupted run collected before is in the recording.
				r := l.open()
				if run >= 2 && !r.Has("cpu.pprof") || run >= 3 && !r.Has("block.pprof") {
					t.Errorf("parts %q", partNames(r.Manifest))
				}
			})
		})
	}
}

func TestProgramLosesParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 30*time.Millisecond, func(n int, s target.RunSpec, p *fakeProgram) {
			delete(p.parts, "trace")
			p.missing["trace"] = "the program panicked"
			if s.Collect.CPU && n%2 == 0 {
				delete(p.parts, "cpu")
				p.missing["cpu"] = "lost"
			}
		})
		l.o.Duration = time.Second
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		if w := why(m, "trace.out"); !strings.Contains(w, "the program panicked") {
			t.Errorf("trace.out is missing because %q", w)
		}
		if !strings.Contains(strings.Join(m.Notes, "\n"), "runs in phase cpu was lost: lost") {
			t.Errorf("notes %q", m.Notes)
		}
	})
}

// TestServiceByItself: a program that listens is observed for the duration.
func TestServiceByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.o.Load = nil
		l.prog.listening = true
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		if m.Target.Kind != "service" || len(l.runs) != 1 || !l.prog.stopped {
			t.Errorf("%+v, %d runs", m.Target, len(l.runs))
		}
		if d := cmp.Diff([]string{"clean", "cpu", "contention", "trace", "rest"}, phaseNames(m)); d != "" {
			t.Errorf("phases (-want +got):\n%s", d)
		}
	})
}

// TestListensAndEnds: a program that listens for a while, for example on a debug port, and exits
// without an error is not a service. What was measured while it was taken for a service is not
// kept.
func TestListensAndEnds(t *testing.T) {
	for _, c := range []struct {
		what    string
		length  time.Duration
		exit    int
		cleanly int // runs of the clean phase that were started, including the first
	}{
		{"in the clean phase", 70 * time.Millisecond, 0, 1},
		{"in the phase cpu", 300 * time.Millisecond, 0, 2},
		{"in the phase cpu, with findings of its own", 300 * time.Millisecond, 1, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clean int
				l := programLab(t, c.length, func(_ int, s target.RunSpec, p *fakeProgram) {
					p.listening = true
					p.exit.Code = c.exit
					if s.Collect == (target.Collect{}) {
						clean++
					}
				})
				l.o.Duration = time.Second
				l.o.Phases = []string{"cpu"}
				if _, err := l.record(t.Context()); err != nil {
					t.Fatal(err)
				}
				r := l.open()
				if r.Manifest.Target.Kind != "program" || !r.Manifest.Complete {
					t.Errorf("kind %s, complete %v", r.Manifest.Target.Kind, r.Manifest.Complete)
				}
				if d := cmp.Diff([]string{"clean", "cpu"}, phaseNames(r.Manifest)); d != "" {
					t.Errorf("phases (-want +got):\n%s", d)
				}
				cpu, _ := r.Phase("cpu")
				if got := total(t, r, "cpu.pprof", "samples"); clean < c.cleanly || cpu.Runs == 0 || got != 3*int64(cpu.Runs) {
					t.Errorf("%d clean runs, %d samples of %d runs", clean, got, cpu.Runs)
				}
			})
		})
	}
}

const benchHead = "goos: linux\ngoarch: amd64\npkg: example.com/x\ncpu: Some CPU\n"

// benchLab is a lab whose target is a test binary.
func benchLab(t *testing.T, print func(n int, s target.RunSpec) string, exit target.Exit) *lab {
	l := newLab(t)
	l.o.Load, l.o.Bench = nil, "Sum"
	l.start = func(s target.RunSpec) process {
		p := newFake()
		p.parts = map[string][]byte{}
		if s.Collect.CPU {
			p.parts["cpu"] = cpuProfile(3)
			p.parts["heap.start"], p.parts["heap.end"] = heapProfile(10), heapProfile(110)
		}
		os.WriteFile(s.Stdout, []byte(print(len(l.runs), s)), 0o644)
		exit := exit
		exit.Wall, exit.Usage.CPUSeconds = 20*time.Millisecond, 0.02
		time.AfterFunc(exit.Wall, func() { p.end(exit) })
		return p
	}
	return l
}

func TestBenchmarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := benchLab(t, func(n int, s target.RunSpec) string {
			ns := 100 + n%2
			if s.Collect.CPU {
				ns += 10
			}
			return fmt.Sprintf("%sBenchmarkSum/small-2 \t 1000\t %d ns/op\t 16 B/op\t 1 allocs/op\nBenchmarkSum/large-2 \t 10\t %d ns/op\nPASS\n", benchHead, ns, 100*ns)
		}, target.Exit{})
		l.o.Phases = []string{"cpu"}
		l.o.Args = []string{"-test.cpu=2"}
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := l.open()
		m := r.Manifest
		if m.Target.Kind != "bench" || m.Target.Bench != "Sum" {
			t.Errorf("%+v", m.Target)
		}
		clean, _ := r.Phase("clean")
		text, err := r.Bytes("bench.txt")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(parseBench(text)); n != 2*clean.Runs {
			t.Errorf("bench.txt has %d lines of %d clean runs:\n%s", n, clean.Runs, text)
		}
		// One row per benchmark, one sample per process; iterations of different benchmarks are not
		// added up.
		if clean.Requests != 0 || len(clean.Benchmarks) != 2 {
			t.Fatalf("%d requests, benchmarks %+v", clean.Requests, clean.Benchmarks)
		}
		small, large := clean.Benchmarks[0], clean.Benchmarks[1]
		if small.Name != "Sum/small-2" || large.Name != "Sum/large-2" || len(small.Samples) != clean.Runs || len(large.Samples) != clean.Runs {
			t.Errorf("%d runs gave %+v", clean.Runs, clean.Benchmarks)
		}
		b, a := 16.0, 1.0
		want := recording.BenchSample{Run: 1, Iterations: 1000, SecondsPerOp: small.Samples[0].SecondsPerOp, BytesPerOp: &b, AllocsPerOp: &a}
		if d := cmp.Diff(want, small.Samples[0]); d != "" || large.Samples[0].BytesPerOp != nil {
			t.Errorf("sample (-want +got):\n%s; large %+v", d, large.Samples[0])
		}
		cpu, _ := r.Phase("cpu")
		o := cpu.Observer
		if o == nil || o.NoThroughput || o.ThroughputLoss < 0.08 || o.ThroughputLoss > 0.10 {
			t.Errorf("110 instead of 100 ns/op: observer %+v", o)
		}
		args := strings.Join(l.runs[1].Args, " ")
		if !strings.Contains(args, "-test.bench=Sum") || !strings.HasSuffix(args, "-test.cpu=2") || !strings.Contains(args, "-test.run=^$") {
			t.Errorf("arguments %q", args)
		}
		if w := why(m, "trace.out"); !strings.Contains(w, "left out") {
			t.Errorf("trace.out is missing because %q", w)
		}
	})
}

// TestBenchmarkPeaks: the peak memory of a benchmark is that of a process with a given number of
// its operations and nothing else. It is absent if that fails or was not requested.
func TestBenchmarkPeaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := benchLab(t, func(_ int, s target.RunSpec) string {
			args, text := strings.Join(s.Args, " "), benchHead
			for _, name := range []string{"Sum/small", "Sum/large", "Sum/other"} {
				only := "-test.bench=^BenchmarkSum$/^" + strings.TrimPrefix(name, "Sum/") + "$ "
				if !strings.Contains(args, "$/^") || strings.Contains(args, only) && !strings.Contains(args, "/^large") {
					text += "Benchmark" + name + "-2 \t 1000\t 100 ns/op\nPASS\n"
				}
			}
			return text
		}, target.Exit{Usage: target.Usage{MaxRSS: 7 << 20}})
		l.o.Phases = []string{}
		l.o.Args = []string{"-test.benchtime=1s"}
		l.o.PeakOperations = map[string]int64{"Sum/small-2": 500, "Sum/large-2": 500, "Sum/absent-2": 500}
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		clean, _ := l.open().Phase("clean")
		for i, want := range []int64{7 << 20, 0, 0} {
			if b := clean.Benchmarks[i]; b.PeakRSSBytes != want || (b.PeakOperations == 500) != (want > 0) || len(b.Samples) != clean.Runs {
				t.Errorf("%s: %d bytes after %d operations, %d samples of %d runs", b.Name, b.PeakRSSBytes, b.PeakOperations, len(b.Samples), clean.Runs)
			}
		}
		if args := strings.Join(l.runs[len(l.runs)-2].Args, " "); !strings.HasSuffix(args, "-test.bench=^BenchmarkSum$/^small$ -test.count=1 -test.cpu=2 -test.benchtime=500x") {
			t.Errorf("arguments %s", args)
		}
	})
}

func TestNoBenchmarks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, print string
		exit        target.Exit
		want        string
	}{
		{"none match", "testing: warning: no tests to run\nPASS\n", target.Exit{}, `no benchmarks matched "Sum" in ./cmd/server`},
		{"fails", "--- FAIL: BenchmarkSum\n    x_test.go:3: no data\nFAIL\n", target.Exit{Code: 1}, "x_test.go:3: no data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := benchLab(t, func(int, target.RunSpec) string { return tt.print }, tt.exit)
				partial, err := l.record(t.Context())
				if partial || err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("partial %v, error %v", partial, err)
				}
			})
		})
	}
}

func TestBenchTime(t *testing.T) {
	o := Options{Duration: 30 * time.Second, Phases: []string{"cpu", "contention", "trace"}}
	for n, want := range map[int]string{1: "900ms", 9: "100ms", 1000: "10ms"} {
		if got := benchTime(o, n); got != want {
			t.Errorf("%d benchmarks: %s, want %s", n, got, want)
		}
	}
}

func TestAnotherRunFits(t *testing.T) {
	for _, tt := range []struct {
		n            int
		used, budget time.Duration
		want         bool
	}{
		{0, 0, time.Second, true},
		{1, 4 * time.Second, 6 * time.Second, false}, // time remains for half a run only
		{1, 3 * time.Second, 6 * time.Second, true},
		{10, 6 * time.Second, 6 * time.Second, false},
		{maxRuns, time.Second, time.Hour, false},
	} {
		rs := runs{list: make([]run, tt.n), used: tt.used, budget: tt.budget}
		if got := rs.another(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestOutIsADirectory: the error is reported before anything is built.
func TestOutIsADirectory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.o.Out = filepath.Join(t.TempDir(), "no", "such", "place.hone")
		if _, err := l.record(t.Context()); err == nil || l.builds != 0 {
			t.Errorf("%v after %d builds", err, l.builds)
		}
	})
}

// Every run adds what the machine did meanwhile, also the first run, which shows what kind of
// program it is.
func TestProgramsPhasesKnowTheMachine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 5*time.Millisecond, nil)
		l.world.tick = time.Hour // no time for metrics
		var now recording.CPUTime
		l.world.machineCPU = func() (recording.CPUTime, bool) {
			now.Busy, now.Stolen = now.Busy+0.5, now.Stolen+0.25
			return now, true
		}
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range l.open().Manifest.Phases {
			if n := float64(p.Runs); n < 1 || p.MachineCPUSeconds != 0.5*n || p.StolenCPUSeconds != 0.25*n {
				t.Errorf("phase %s of %v runs: machine %v s, stolen %v s", p.Name, n, p.MachineCPUSeconds, p.StolenCPUSeconds)
			}
		}
	})
}
