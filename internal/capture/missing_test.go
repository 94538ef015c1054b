package capture

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/target"
)

// TestMissingParts: what is not available is named, and everything else is recorded.
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
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

func TestUsageUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
	})
}

func TestTraceFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
	})
}
