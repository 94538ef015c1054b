package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
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
	if d := cmp.Diff(&recording.Load{Targets: []string{"GET http://127.0.0.1:8080/x"}, Connections: 3}, m.Load); d != "" {
		t.Errorf("load (-want +got):\n%s", d)
	}

	for name, share := range map[string]float64{"clean": .2, "cpu": .5, "contention": .15, "trace": .15} {
		p, _ := r.Phase(name)
		if s := share * l.o.Duration.Seconds(); p.Seconds < s || p.Seconds > s+0.2 {
			t.Errorf("phase %s took %.3f s of %.3f", name, p.Seconds, s)
		}
		if len(p.Windows) < 4 || p.Requests == 0 || p.Service == nil || p.Latency != nil || p.Verdict != "ok" {
			t.Errorf("phase %s: %+v", name, p)
		}
		var sum int64
		for _, w := range p.Windows {
			sum += w.Requests
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
	want := []string{"build", "start", "warmup", "clean", "cpu", "contention", "trace", "rest"}
	if d := cmp.Diff(want, ends); d != "" {
		t.Errorf("phases told to have ended (-want +got):\n%s", d)
	}
}

// hookAt runs f once when the given phase of the recording makes its first call.
func hookAt(l *lab, phase string, f func()) {
	var clean, done bool
	calls := map[string]string{"cpu": "cpu", "contention": "rates", "trace": "trace", "rest": "goroutine"}
	l.prog.called = func(call string) {
		if done || call != calls[phase] {
			return
		}
		done = true
		time.AfterFunc(10*time.Millisecond, f)
	}
	if calls[phase] != "" {
		return
	}
	l.o.Progress = func(e Event) {
		if e.Phase == phase && !clean {
			clean = true
			time.AfterFunc(10*time.Millisecond, f)
		}
	}
}

func TestInterruptedInEachPhase(t *testing.T) {
	finished := map[string][]string{
		"clean": nil, "cpu": {"load.json"}, "contention": {"load.json", "cpu.pprof", "allocs.pprof"},
		"trace": {"load.json", "cpu.pprof", "allocs.pprof", "mutex.pprof"},
	}
	for _, phase := range []string{"build", "start", "warmup", "clean", "cpu", "contention", "trace"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hookAt(l, phase, cancel)
			build := l.world.build
			l.world.build = func(bctx context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
				if phase == "build" {
					<-bctx.Done()
					return nil, nil, bctx.Err()
				}
				return build(bctx, s)
			}
			l.world.waitReady = func(ctx context.Context, p target.Program, addr string) error {
				if phase == "start" {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}
			l.o.Warmup = time.Minute // never steady: see below
			if phase == "warmup" {
				l.gen.rate = 0
			} else {
				l.o.Warmup = -1
			}
			partial, err := l.record(ctx)
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stopped in phase "+phase) {
				t.Fatalf("error %v", err)
			}
			parts, began := finished[phase]
			if partial != began {
				t.Fatalf("partial %v", partial)
			}
			if !began {
				return
			}
			r := l.open()
			if r.Manifest.Complete || r.Cut {
				t.Errorf("complete %v, cut %v", r.Manifest.Complete, r.Cut)
			}
			for _, part := range append(parts, "buildinfo.txt", "stdout.txt") {
				if !r.Has(part) {
					t.Errorf("%s is not there; parts are %q", part, partNames(r.Manifest))
				}
			}
			if _, ok := r.Phase(phase); !ok {
				t.Errorf("phase %s left no figures", phase)
			}
			if w := why(r.Manifest, "heap.pprof"); !strings.Contains(w, "ended before, in phase "+phase) {
				t.Errorf("heap.pprof is missing because %q", w)
			}
		})
	}
}

func TestTargetDiesInEachPhase(t *testing.T) {
	for _, phase := range []string{"warmup", "clean", "cpu", "contention", "trace", "rest"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.o.Warmup = -1
			if phase == "warmup" {
				l.o.Warmup = time.Minute
				l.gen.rate = 0
			}
			hookAt(l, phase, func() {
				l.prog.end(target.Exit{Code: 2, Stderr: []string{"panic: out of cheese"}})
			})
			if phase == "rest" {
				l.prog.called = func(call string) {
					if call == "goroutine" {
						l.prog.end(target.Exit{Code: 2, Stderr: []string{"panic: out of cheese"}})
					}
				}
			}
			partial, err := l.record(t.Context())
			if err == nil || !strings.Contains(err.Error(), "died in phase "+phase+": exit code 2; last lines on stderr: panic: out of cheese") {
				t.Fatalf("error %v", err)
			}
			if partial != (phase != "warmup") {
				t.Fatalf("partial %v", partial)
			}
			if !partial {
				return
			}
			r := l.open()
			if phase == "cpu" && !r.Has("cpu.pprof") {
				t.Error("the CPU profile that the dying program handed over is lost")
			}
			if c := r.Manifest.Target.ExitCode; c == nil || *c != 2 {
				t.Errorf("exit code %v", c)
			}
		})
	}
}

func TestLoadEndsByItself(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	hookAt(l, "cpu", l.gen.end)
	partial, err := l.record(t.Context())
	if !partial || err == nil || !strings.Contains(err.Error(), "the load ended by itself in phase cpu") {
		t.Errorf("partial %v, %v", partial, err)
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
	}
}

// TestSlowToServe: a service may answer with errors for a moment after its port is open.
func TestSlowToServe(t *testing.T) {
	t.Parallel()
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
}

// TestMissingParts: what cannot be had is named and costs nothing else.
func TestMissingParts(t *testing.T) {
	gone := func(why, how string) error { return &target.Missing{What: "x", Why: why, How: how} }
	tests := []struct {
		name    string
		change  func(*lab)
		missing []string // part, then a piece of the reason
		phases  []string // without warm-up and rest
	}{
		{"CPU profile busy", func(l *lab) { l.prog.refuse["cpu"] = gone("another profile runs", "stop it") },
			[]string{"cpu.pprof", "another profile runs stop it"}, []string{"clean", "cpu", "contention", "trace"}},
		{"no heap", func(l *lab) { l.prog.refuse["heap"] = gone("404", "") },
			[]string{"allocs.pprof", "404", "heap.pprof", "404"}, []string{"clean", "cpu", "contention", "trace"}},
		{"neither", func(l *lab) {
			l.prog.refuse["cpu"], l.prog.refuse["heap"] = errors.New("broken pipe"), gone("404", "")
		}, []string{"cpu.pprof", "broken pipe", "allocs.pprof", "404", "heap.pprof", "404"}, []string{"clean", "contention", "trace"}},
		{"no trace", func(l *lab) { l.prog.refuse["trace"] = gone("404", "") },
			[]string{"trace.out", "404"}, []string{"clean", "cpu", "contention"}},
		{"rates stay 0", func(l *lab) {
			l.prog.refuse["rates"], l.prog.idle = gone("no endpoint", ""), true
		}, []string{"block.pprof", "call runtime.SetBlockProfileRate(10000)", "mutex.pprof", "call runtime.SetMutexProfileFraction(10)"},
			[]string{"clean", "cpu", "trace"}},
		{"rates set by the program", func(l *lab) { l.prog.refuse["rates"] = gone("no endpoint", "") },
			nil, []string{"clean", "cpu", "contention", "trace"}},
		{"no mutex", func(l *lab) { l.prog.refuse["mutex"] = gone("404", "") },
			[]string{"mutex.pprof", "404"}, []string{"clean", "cpu", "contention", "trace"}},
		{"left out", func(l *lab) { l.o.Phases = []string{"cpu"} },
			[]string{"trace.out", "left out", "block.pprof", "left out", "mutex.pprof", "left out"}, []string{"clean", "cpu"}},
		{"no metrics", func(l *lab) { l.prog.refuse["metrics"] = gone("no endpoint", "") },
			[]string{"metrics.jsonl", "no endpoint"}, []string{"clean", "cpu", "contention", "trace"}},
		{"no leaks", func(l *lab) { l.prog.refuse["goroutineleak"] = gone("go1.26.8 has no such profile", "") },
			[]string{"goroutineleak.pprof", "no such profile"}, []string{"clean", "cpu", "contention", "trace"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.o.Warmup = -1
			tt.change(l)
			if partial, err := l.record(t.Context()); err != nil || partial {
				t.Fatal(partial, err)
			}
			m := l.open().Manifest
			if !m.Complete {
				t.Error("not complete")
			}
			for i := 0; i < len(tt.missing); i += 2 {
				part, want := tt.missing[i], tt.missing[i+1]
				if got := why(m, part); !strings.Contains(got, want) {
					t.Errorf("%s is missing because %q, want %q", part, got, want)
				}
				if slices.Contains(partNames(m), part) {
					t.Errorf("%s is there", part)
				}
			}
			if len(m.Missing) != len(tt.missing)/2 {
				t.Errorf("missing: %+v", m.Missing)
			}
			if d := cmp.Diff(append(tt.phases, "rest"), phaseNames(m)); d != "" {
				t.Errorf("phases (-want +got):\n%s", d)
			}
		})
	}
}

func TestUsageUnknown(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.prog.refuse["usage"] = &target.Missing{What: "CPU time", Why: "no endpoint"}
	if _, err := l.record(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := l.open()
	p, _ := r.Phase("cpu")
	if p.CPUSeconds != 0 || p.Observer == nil || !p.Observer.NoCPU || p.Observer.NoThroughput {
		t.Errorf("%+v, observer %+v", p, p.Observer)
	}
	if !slices.ContainsFunc(r.Manifest.Notes, func(n string) bool {
		return strings.Contains(n, "CPU time and memory of the process are unknown: no endpoint")
	}) {
		t.Errorf("notes %q", r.Manifest.Notes)
	}
}

func TestTraceFull(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.prog.refuse["full"] = errors.New("flag of the fake")
	if _, err := l.record(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := l.open()
	p, _ := r.Phase("trace")
	if want := l.o.Duration.Seconds() * .15; p.Seconds > want*0.9 {
		t.Errorf("the phase goes on for %.3f s of %.3f although its collector ended", p.Seconds, want)
	}
	if !r.Has("trace.out") || !slices.ContainsFunc(r.Manifest.Notes, func(n string) bool { return strings.Contains(n, "it reached 64 MB") }) {
		t.Errorf("notes %q", r.Manifest.Notes)
	}
}

func TestEveryRequestFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.gen.fail = true
	if _, err := l.record(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := l.open().Manifest
	if !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "load in phase clean: every one of") }) {
		t.Errorf("notes %q", m.Notes)
	}
}

func TestRemote(t *testing.T) {
	t.Parallel()
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
		t.Error("it was not let go of")
	}
	if d := cmp.Diff([]string{"clean", "cpu", "contention", "trace", "rest"}, phaseNames(m)); d != "" {
		t.Errorf("phases (-want +got):\n%s", d)
	}
	if o := m.Phases[1].Observer; o == nil || !o.NoThroughput || o.NoCPU {
		t.Errorf("without load: observer %+v", o)
	}
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
	if err != nil || o.Duration != 30*time.Second || len(o.Phases) != 3 {
		t.Errorf("%+v, %v", o, err)
	}
}
