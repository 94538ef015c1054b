package capture

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-go/hone/internal/target"
)

// hookAt runs f once, soon after the given phase of the recording made its first call. Phases that
// measure from then on wait for the first cut of the load, with which measuring starts.
func hookAt(l *lab, phase string, f func()) {
	var armed, done bool
	run := func() {
		if !done {
			done = true
			time.AfterFunc(10*time.Millisecond, f)
		}
	}
	calls := map[string]string{"cpu": "cpu", "contention": "rates", "trace": "trace", "rest": "goroutine"}
	l.prog.called = func(call string) {
		switch {
		case call != calls[phase]:
		case phase == "contention":
			armed = true
		default:
			run()
		}
	}
	l.gen.cut = func() {
		if armed {
			run()
		}
	}
	if calls[phase] != "" {
		return
	}
	l.o.Progress = func(e Event) {
		switch {
		case e.Phase != phase:
		case phase == "clean":
			armed = true
		default:
			run()
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
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

func TestTargetDiesInEachPhase(t *testing.T) {
	for _, phase := range []string{"warmup", "clean", "cpu", "contention", "trace", "rest"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

func TestLoadFinishes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		hookAt(l, "cpu", l.gen.end)
		partial, err := l.record(t.Context())
		if !partial || err == nil || !strings.Contains(err.Error(), "the load stopped in phase cpu") {
			t.Errorf("partial %v, %v", partial, err)
		}
	})
}
