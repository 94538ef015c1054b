package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

func phaseNames(m recording.Manifest) (list []string) {
	for _, p := range m.Phases {
		list = append(list, p.Name)
	}
	return list
}

func partNames(m recording.Manifest) (list []string) {
	for _, p := range m.Parts {
		list = append(list, p.Name)
	}
	slices.Sort(list)
	return list
}

func why(m recording.Manifest, part string) string {
	for _, x := range m.Missing {
		if x.Part == part {
			return x.Why + " " + x.How
		}
	}
	return ""
}

func TestServiceUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		partial, err := l.record(t.Context())
		if err != nil || partial {
			t.Fatal(partial, err)
		}
		r := l.open()
		m := r.Manifest
		if !m.Complete || len(m.Missing) > 0 {
			t.Errorf("complete %v, missing %+v", m.Complete, m.Missing)
		}
		if d := cmp.Diff([]string{"warmup", "clean", "cpu", "contention", "trace", "rest"}, phaseNames(m)); d != "" {
			t.Errorf("phases (-want +got):\n%s", d)
		}
		want := []string{"allocs.pprof", "block.pprof", "buildinfo.txt", "cpu.pprof", "goroutine.pprof", "goroutine.txt",
			"goroutineleak.pprof", "heap.pprof", "load.hdr", "load.json", "metrics.jsonl", "mutex.pprof", "stdout.txt",
			"threadcreate.pprof", "trace.out"}
		if d := cmp.Diff(want, partNames(m)); d != "" {
			t.Errorf("parts (-want +got):\n%s", d)
		}
		if m.Target.Kind != "service" || !m.Target.Probe || m.Runtime.Revision != "abc" || !m.Runtime.Dirty || m.Runtime.GOMAXPROCS != 2 {
			t.Errorf("target %+v, runtime %+v", m.Target, m.Runtime)
		}
		if d := cmp.Diff(&recording.Load{Targets: []string{"GET http://127.0.0.1:8080/x"}, Connections: 3, Digest: digest(l.o.Load.Targets)}, m.Load); d != "" {
			t.Errorf("load (-want +got):\n%s", d)
		}

		for name, share := range map[string]float64{"clean": .2, "cpu": .5, "contention": .15, "trace": .15} {
			p, _ := r.Phase(name)
			if s := share * l.o.Duration.Seconds(); math.Abs(p.Seconds-s) > 1e-6 {
				t.Errorf("phase %s took %.3f s of %.3f", name, p.Seconds, s)
			}
			if len(p.Windows) < 4 || p.Requests == 0 || p.Service == nil || p.Latency != nil || p.Verdict != "ok" {
				t.Errorf("phase %s: %+v", name, p)
			}
			var sum int64
			for _, w := range p.Windows {
				sum += w.Requests
			}
			if p.Windows[0].Quantiles == nil || p.Windows[0].Quantiles.Max != 0.001 {
				t.Errorf("phase %s: first window %+v", name, p.Windows[0])
			}
			if sum != p.Requests || p.CPUSeconds <= 0 || p.AllocBytes <= 0 || p.RSSBytes != 1<<20 {
				t.Errorf("phase %s: %d requests in windows, %+v", name, sum, p)
			}
			if (p.Observer == nil) != (name == "clean") {
				t.Errorf("phase %s: observer %+v", name, p.Observer)
			}
		}
		if p, _ := r.Phase("cpu"); p.ForcedGC != 2 {
			t.Errorf("%d forced collections in the cpu phase", p.ForcedGC)
		}

		// Deltas, not the cumulative profiles.
		if n := total(t, r, "allocs.pprof", ""); n != 16_000 {
			t.Errorf("allocs.pprof: %d bytes of its default sample type, want the 16,000 of the phase", n)
		}
		if n := total(t, r, "block.pprof", "contentions"); n != 2 {
			t.Errorf("block.pprof: %d contentions, want those of the phase", n)
		}
		if n := total(t, r, "cpu.pprof", "samples"); n != 5 {
			t.Errorf("cpu.pprof: %d samples", n)
		}
		checkMetrics(t, r)
		checkLoad(t, r)
		checkEvents(t, l.events)
	})
}

func checkMetrics(t *testing.T, r *recording.Recording) {
	t.Helper()
	data, err := r.Bytes("metrics.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var line struct {
			T     time.Time
			Phase string
			M     target.Metrics
		}
		if err := json.Unmarshal(s.Bytes(), &line); err != nil || line.T.IsZero() || len(line.M) != 3 {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		seen[line.Phase]++
	}
	for _, p := range []string{"clean", "cpu", "contention", "trace"} {
		if seen[p] < 5 {
			t.Errorf("%d readings in phase %s", seen[p], p)
		}
	}
}

func checkLoad(t *testing.T, r *recording.Recording) {
	t.Helper()
	data, err := r.Bytes("load.json")
	if err != nil {
		t.Fatal(err)
	}
	var rep load.Report
	if err := json.Unmarshal(data, &rep); err != nil {
		t.Fatal(err)
	}
	clean, _ := r.Phase("clean")
	if rep.Schema != load.Schema || rep.Requests != clean.Requests {
		t.Errorf("load.json: %+v, the phase has %d requests", rep, clean.Requests)
	}
	hdr, err := r.Part("load.hdr")
	if err != nil {
		t.Fatal(err)
	}
	defer hdr.Close()
	log, err := histogram.ReadLog(hdr)
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, i := range log {
		n += i.Hist.Count()
	}
	if n != clean.Requests {
		t.Errorf("load.hdr holds %d requests, the phase %d", n, clean.Requests)
	}
}

func checkEvents(t *testing.T, events []Event) {
	t.Helper()
	var ends []string
	for _, e := range events {
		if e.End {
			ends = append(ends, e.Phase)
		}
	}
	want := []string{"build", "start", "warmup", "clean", "cpu", "contention", "trace", "clean", "rest"}
	if d := cmp.Diff(want, ends); d != "" {
		t.Errorf("phases reported as finished (-want +got):\n%s", d)
	}
}

func TestRefusedBeforeTheRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*lab)
		want   string
		builds int
		runs   int
	}{
		{"port taken", func(l *lab) {
			l.world.portTaken = func(a string) error { return errors.New(a + " is taken") }
		}, "127.0.0.1:8080 is taken", 0, 0},
		{"build error", func(l *lab) {
			l.world.build = func(context.Context, target.BuildSpec) (*target.Binary, startFunc, error) {
				return nil, nil, &target.BuildError{Package: "./x", Output: "x.go:1: no", Err: errors.New("exit status 1")}
			}
		}, "x.go:1: no", 0, 0},
		{"no probe", func(l *lab) {
			build := l.world.build
			l.world.build = func(ctx context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
				b, start, err := build(ctx, s)
				b.Probe, b.Notes = false, []string{"built by go1.20"}
				return b, start, err
			}
		}, "built by go1.20", 1, 0},
		{"never ready", func(l *lab) {
			l.o.Timeout = 50 * time.Millisecond
			l.world.waitReady = func(ctx context.Context, _ target.Program, _ string) error { <-ctx.Done(); return ctx.Err() }
		}, "nothing listens at 127.0.0.1:8080 after 50ms", 1, 1},
		{"listens elsewhere", func(l *lab) {
			l.o.Timeout = 50 * time.Millisecond
			l.prog.listening = true
			l.world.waitReady = func(ctx context.Context, _ target.Program, _ string) error { <-ctx.Done(); return ctx.Err() }
		}, "the program listens, but not at 127.0.0.1:8080", 1, 1},
		{"only errors", func(l *lab) {
			l.world.tryLoad = func(context.Context, load.Options) error { return errors.New("answered 404") }
		}, "the load would only get errors: answered 404", 1, 1},
		{"bad load URL", func(l *lab) { l.o.Load.Targets[0].URL = "leftpad" }, "no host and port", 0, 0},
		{"dies at once", func(l *lab) {
			l.world.tryLoad = func(context.Context, load.Options) error {
				l.prog.end(target.Exit{Code: 1, Stderr: []string{"no config"}})
				return errors.New("connection refused")
			}
		}, "died in phase load: exit code 1; last lines on stderr: no config", 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				tt.change(l)
				partial, err := l.record(t.Context())
				if partial || err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("partial %v, error %v", partial, err)
				}
				if l.builds != tt.builds || len(l.runs) != tt.runs {
					t.Errorf("%d builds, %d runs", l.builds, len(l.runs))
				}
			})
		})
	}
}

// TestKeepsAnswers: the answers of the service before the load starts are kept, of two requests per
// target.
func TestKeepsAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.o.Answers, l.o.Phases = 5, []string{}
		if partial, err := l.record(t.Context()); err != nil || partial {
			t.Fatal(partial, err)
		}
		text, err := l.open().Bytes(recording.PartAnswers)
		var turns [][]load.Answer
		if err == nil {
			err = json.Unmarshal(text, &turns)
		}
		want := []load.Answer{{Target: "GET http://127.0.0.1:8080/x", Status: 200, Body: "00"}}
		if d := cmp.Diff([][]load.Answer{want, want}, turns); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	})
}

// TestSlowToServe: a service may answer with errors for a moment after its port is open.
func TestSlowToServe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		n := 0
		l.world.tryLoad = func(context.Context, load.Options) error {
			if n++; n < 3 {
				return errors.New("answered 503")
			}
			return nil
		}
		if _, err := l.record(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestEveryRequestFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.gen.fail = true
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		if !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "load in phase clean: all ") }) {
			t.Errorf("notes %q", m.Notes)
		}
	})
}

// TestOverload: when requests or goroutines pile up, a note says that the rate is too high, and
// what to do.
func TestOverload(t *testing.T) {
	windows := func(answers ...int64) (list []*load.Result) {
		for _, n := range answers {
			list = append(list, &load.Result{Requests: n, Elapsed: time.Second, OpenConns: 300})
		}
		return list
	}
	for _, tt := range []struct {
		name    string
		o       load.Options
		windows []*load.Result
		want    string
	}{
		{"behind", load.Options{Rate: 100}, windows(40, 30, 20, 20), "20.0 of 100 requests/s are answered, the others pile up on 300 connections so far: limit those with -max_connections"},
		{"keeps up", load.Options{Rate: 100}, windows(100, 99, 100, 101), ""},
		{"slow, not overloaded", load.Options{Rate: 100}, windows(0, 0, 100, 100), ""},
		{"few are late", load.Options{Rate: 5}, windows(5, 5, 2, 3), ""},
		{"bounded", load.Options{Rate: 100, MaxConnections: 8}, windows(20, 20), ""},
		{"closed loop", load.Options{Connections: 8}, windows(20, 20), ""},
		{"no window", load.Options{Rate: 100}, nil, ""},
	} {
		if got := overload(&tt.o, tt.windows); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestTooHighARate: the warning is shown immediately, and the recording keeps it.
func TestTooHighARate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.o.Load.Rate = 10 * l.gen.rate
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		heard := func(text string) bool { return strings.Contains(text, "-max_connections") }
		if !slices.ContainsFunc(l.events, func(e Event) bool { return e.Phase == recording.PhaseWarmup && e.End && heard(e.Text) }) {
			t.Errorf("events %+v", l.events)
		}
		if m := l.open().Manifest; !slices.ContainsFunc(m.Notes, heard) {
			t.Errorf("notes %q", m.Notes)
		}
	})
}

func TestRemote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.o.Package, l.o.URL, l.o.Load = "", "http://127.0.0.1:6060", nil
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		if m.Target.Kind != "url" || m.Target.URL != l.o.URL || m.Load != nil {
			t.Errorf("%+v", m.Target)
		}
		if !l.prog.stopped {
			t.Error("its load was not stopped")
		}
		if d := cmp.Diff([]string{"clean", "cpu", "contention", "trace", "rest"}, phaseNames(m)); d != "" {
			t.Errorf("phases (-want +got):\n%s", d)
		}
		if o := m.Phases[1].Observer; o == nil || !o.NoThroughput || o.NoCPU {
			t.Errorf("without load: observer %+v", o)
		}
	})
}

func TestOptions(t *testing.T) {
	good := Options{Package: "./x", Out: "x.hone"}
	bad := map[string]func(*Options){
		"exactly one of":   func(o *Options) { o.URL = "http://x" },
		"exactly one":      func(o *Options) { o.Package = "" },
		"need a package":   func(o *Options) { o.Package, o.URL, o.Bench = "", "http://x", "." },
		"its own load":     func(o *Options) { o.Bench, o.Load = ".", &load.Options{} },
		"no file":          func(o *Options) { o.Out = "" },
		`no phase "heap"`:  func(o *Options) { o.Phases = []string{"heap"} },
		`no phase "clean"`: func(o *Options) { o.Phases = []string{"clean"} },
		"named twice":      func(o *Options) { o.Phases = []string{"cpu", "cpu"} },
		"duration -1s":     func(o *Options) { o.Duration = -time.Second },
		"timeout -1s":      func(o *Options) { o.Timeout = -time.Second },
	}
	for want, change := range bad {
		o := good
		change(&o)
		if _, err := o.withDefaults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	o, err := good.withDefaults()
	if err != nil || o.Duration != 30*time.Second || len(o.Phases) != 8 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestServiceBehindItsLoad asserts that the load of a service that is too busy to answer is
// stopped, and that the recording still finishes.
func TestServiceBehindItsLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.world.patience, l.world.restLimit = 20*time.Millisecond, 60*time.Millisecond
		l.prog.hangs = "threadcreate"
		if partial, err := l.record(t.Context()); err != nil || partial {
			t.Fatal(partial, err)
		}
		m := l.open().Manifest
		if s := why(m, recording.PartThreads); !strings.Contains(s, "did not answer within 80ms") || !strings.Contains(s, "-rate") {
			t.Errorf("threads: %q", s)
		}
		if !slices.Contains(partNames(m), recording.PartHeap) {
			t.Error("what came before is lost")
		}
		if s := strings.Join(m.Notes, "\n"); !strings.Contains(s, "the load was stopped before") {
			t.Errorf("notes: %s", s)
		}
	})
}
