package tunegc

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// dirPrefix starts the names of the directories for what is observed.
const dirPrefix = "tune-"

// workDir returns a new directory for recordings that are not kept.
func workDir(cfg session.Config) (*scratch.Dir, error) {
	work := filepath.Join(cfg.CacheDir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	scratch.Sweep(work, time.Now(), dirPrefix)
	return scratch.Make(work, dirPrefix)
}

// observe records the clean phase once, with the runtime printing its collections.
func observe(ctx context.Context, cfg session.Config, s Spec, dir string) (*gogc.Observed, *recording.Manifest, error) {
	var seen listener
	opts := s.Options
	opts.Phases, opts.Out, opts.Output = []string{}, filepath.Join(dir, "observed.hone"), &seen
	opts.Env = append(slices.Clone(opts.Env), "GODEBUG="+withTrace(opts.Env))
	path, err := s.record(ctx, cfg, opts, "observe: ")
	if err != nil {
		return nil, nil, err
	}
	rec, err := recording.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer rec.Close()
	o, err := seen.observed(&rec.Manifest)
	if err == nil {
		if cost, ok := faultCost(); ok {
			o.FaultCPU = cost
		}
	}
	return o, &rec.Manifest, err
}

// withTrace returns the program's GODEBUG with gctrace=1 added.
func withTrace(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], "GODEBUG="); ok && v != "" {
			return v + ",gctrace=1"
		}
	}
	return "gctrace=1"
}

// profiled is the duration of the CPU profile, and of the trace, as a multiple of Options.Duration.
// 1000 samples show a share of 10 % of CPU to within 2 %, and some seconds of a trace show a
// slowdown by marking.
const profiled = 3

// weigh records a CPU profile and a trace, for the CPU time of the collections and for how much
// they slow down the rest of the program. A service also runs with a larger GOGC for some seconds,
// alternating with its own. What the runtime prints about CPU is the time for which the collector
// held CPUs, an upper bound: other processes used some of it.
func weigh(ctx context.Context, cfg session.Config, s Spec, dir string, o *gogc.Observed) error {
	var results [2]*session.Result
	for i, phases := range [][]string{{recording.PhaseCPU, recording.PhaseGOGC}, {recording.PhaseTrace}} {
		opts := s.Options
		opts.Duration *= profiled
		opts.Phases, opts.Out = phases, filepath.Join(dir, phases[0]+".hone")
		path, err := s.record(ctx, cfg, opts, "profile: ")
		if err != nil {
			return err
		}
		quiet := cfg
		quiet.Progress = nil
		if results[i], err = session.Diagnose(ctx, quiet, path); err != nil {
			return err
		}
	}
	lost := stats.Unknown()
	if t := results[1].Trace; t != nil && t.Parallelism != nil && t.Parallelism.Marking.LostCPU.Value > 0 {
		lost = t.Parallelism.Marking.LostCPU
	}
	charge(o, results[0].Table, lost, results[0].Manifest.Trial)
	return nil
}

// charge sets what collections cost, according to a CPU profile, and what the program loses while
// they run, according to lost (a share of its CPU) and to a trial of a larger GOGC. Without a
// profile, only the printed times are known.
func charge(o *gogc.Observed, t *site.Table, lost stats.Interval, trial *recording.Trial) {
	total := t.Totals.TotalSeconds
	if total <= 0 {
		return
	}
	share := t.CycleSeconds() / total
	o.GCSeconds = min(o.Printed(), share*o.CPUSeconds)
	if !(o.GCSeconds > 0) {
		return
	}
	tried := triedDrag(o, trial)
	switch traced := stats.Add(lost.Scale(o.CPUSeconds/o.GCSeconds), collector.Outside()); {
	case traced.Known() && tried.Known():
		o.Drag = stats.Combine(traced, tried).Value
	case traced.Known():
		o.Drag = traced.Value
	case tried.Known():
		o.Drag = stats.Combine(usualDrag, tried).Value
	}
	o.Drag = max(0, o.Drag)
}

// usualDrag is what a service is assumed to lose in addition to the collector's own time, for each
// second of it, if nothing was measured. Seven services lost 0.14 to 1.9 (go run ./tools/cases
// -litter collecting, and docs/tune-gc.md).
var usualDrag = stats.Interval{Value: 0.6, Low: -0.6, High: 1.8}

// triedDrag returns what a service loses in addition to the collector's own time, according to a
// trial of a larger GOGC: what the trial saved, compared with the part of the collector's own time
// that it saved. Without a trial it is unknown.
func triedDrag(o *gogc.Observed, trial *recording.Trial) stats.Interval {
	if trial == nil || o.Ends {
		return stats.Unknown()
	}
	own, tried := o.Predict(gogc.Setting{GOGC: max(0, o.GOGC), Limit: o.Limit}), o.Predict(gogc.Setting{GOGC: trial.GOGC, Limit: o.Limit})
	direct := (own.GCSeconds - tried.GCSeconds) / o.CPUSeconds
	saved := trial.Saved()
	if !(direct > 0) || !saved.Known() {
		return stats.Unknown()
	}
	drag := saved.Scale(1 / direct)
	return stats.Interval{Value: drag.Value - 1, Low: drag.Low - 1, High: drag.High - 1}
}

// record makes a recording that is not kept.
func (s *Spec) record(ctx context.Context, cfg session.Config, opts capture.Options, step string) (string, error) {
	cfg.Progress = nil
	if s.Progress != nil {
		opts.Progress = func(e capture.Event) { e.Text = step + e.Text; s.Progress(e) }
	}
	return session.Record(ctx, cfg, opts)
}
