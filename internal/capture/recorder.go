package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/target"
)

// Steps before the recording's phases, for events and errors.
const (
	phaseAttach = "attach"
	phaseBuild  = "build"
	phaseStart  = "start"
	phaseLoad   = "load"
)

// recorder is what all kinds of targets share: the output file, the notes that go into it, and the
// reference figures of the clean phase.
type recorder struct {
	o     Options
	world world
	out   *recording.Writer
	tmp   string // for the target's output; removed at the end

	buildInfo string            // buildinfo.txt
	metrics   bytes.Buffer      // metrics.jsonl so far
	stretches []stretch         // of the phases so far
	phase     string            // the current one, for errors
	profiles  map[string][]byte // the parts that decide what to look at once more

	throttled float64 // seconds before the recording, when canThrot
	canThrot  bool
}

// record is Record with its environment given, for tests.
func record(ctx context.Context, o Options, w world) (partial bool, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("record %s: %w", o.Arg, err)
	}
	out, err := recording.Create(o.Out, recording.Manifest{
		Hone: o.Version,
		Target: recording.Target{
			Kind: o.kind(), Arg: o.Arg, RunDir: o.RunDir, Args: o.Args, Env: o.Settings, Bench: o.Bench, URL: o.URL, LoadCommand: o.LoadCommand,
		},
		Load: loadSpec(o.Load),
	})
	if err != nil {
		return false, err
	}
	r := &recorder{o: o, world: w, out: out, profiles: map[string][]byte{}}
	scratch.Sweep(o.WorkDir, time.Now(), tmpPrefix, target.BuildDirPrefix)
	tmp, err := scratch.Make(o.WorkDir, tmpPrefix)
	if err != nil {
		return false, fmt.Errorf("create a directory for the target's output: %w", err)
	}
	defer tmp.Remove()
	r.tmp = tmp.Path

	if err = r.takeInput(ctx); err == nil {
		if o.URL != "" {
			err = r.recordURL(ctx)
		} else {
			err = r.recordPackage(ctx)
		}
	}
	return r.finish(err)
}

// tmpPrefix starts the name of a recording's directory for what the target prints.
const tmpPrefix = "capture-"

// finish writes the last manifest and closes the file.
func (r *recorder) finish(err error) (partial bool, _ error) {
	begun := r.out.Started()
	if begun {
		r.sumThrottled()
		r.noteStretches()
		if err != nil {
			r.note("cut short: %v", err)
		}
		r.account(err != nil)
	}
	if cerr := r.out.Close(err == nil); cerr != nil && err == nil {
		err = cerr
	}
	return begun && err != nil, err
}

// add writes a part.
func (r *recorder) add(name, phase string, data []byte) error {
	switch name {
	case recording.PartCPU, recording.PartAllocs, recording.PartHeap, recording.PartGoroutine:
		r.profiles[name] = data
	}
	return r.out.Add(name, phase, data)
}

// checkpoint writes what a phase changed: its figures, and the metrics up to now.
func (r *recorder) checkpoint() error {
	if r.metrics.Len() == 0 {
		return r.out.Sync()
	}
	return r.out.Add(recording.PartMetrics, "", r.metrics.Bytes())
}

// note adds a note to the manifest, once.
func (r *recorder) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.out.Update(func(m *recording.Manifest) {
		if !slices.Contains(m.Notes, text) {
			m.Notes = append(m.Notes, text)
		}
	})
}

// missing lists a part that is not available, with the reason in err.
func (r *recorder) missing(part string, err error) {
	m := recording.Missing{Part: part, Why: err.Error()}
	var e *target.Missing
	if errors.As(err, &e) {
		m.Why, m.How = e.Why, e.How
	}
	r.out.Update(func(man *recording.Manifest) {
		known := func(o recording.Missing) bool { return o.Part == part }
		if !slices.ContainsFunc(man.Missing, known) {
			man.Missing = append(man.Missing, m)
		}
	})
}

// say reports progress to the caller.
func (r *recorder) say(e Event) {
	if r.o.Progress != nil {
		r.o.Progress(e)
	}
}

// phaseOf says which phase yields a part.
var phaseOf = map[string]string{
	recording.PartCPU:    recording.PhaseCPU,
	recording.PartAllocs: recording.PhaseCPU,
	recording.PartBlock:  recording.PhaseContention,
	recording.PartMutex:  recording.PhaseContention,
	recording.PartTrace:  recording.PhaseTrace,
}

// account lists every usual part that is neither there nor explained yet.
func (r *recorder) account(cut bool) {
	m := r.out.Manifest()
	expect := []string{
		recording.PartCPU, recording.PartAllocs, recording.PartHeap, recording.PartGoroutine,
		recording.PartGoroutineTxt, recording.PartBlock, recording.PartMutex, recording.PartThreads,
		recording.PartLeaks, recording.PartTrace, recording.PartMetrics,
	}
	if r.o.Bench != "" {
		expect = append(expect, recording.PartBench)
	}
	for _, part := range expect {
		if slices.ContainsFunc(m.Parts, func(p recording.Part) bool { return p.Name == part }) {
			continue
		}
		phase := phaseOf[part]
		switch {
		case phase != "" && !slices.Contains(r.o.Phases, phase):
			r.missing(part, fmt.Errorf("the phase %s was left out", phase))
		case cut:
			r.missing(part, errors.New("the recording ended before, in phase "+r.phase))
		case m.Target.Kind == kindProgram || m.Target.Kind == kindBench:
			r.missing(part, errors.New("the program exited first: there was no time to take it"))
		default:
			r.missing(part, errors.New("it was not asked for"))
		}
	}
}

// addOutput writes what the program printed. Empty output is left out.
func (r *recorder) addOutput() error {
	for _, f := range []struct{ part, file string }{
		{recording.PartStdout, r.stdout()},
		{recording.PartStderr, r.stderr()},
	} {
		data, err := os.ReadFile(f.file)
		if err != nil || len(data) == 0 {
			continue // never started, or silent
		}
		if err := r.add(f.part, "", data); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) stdout() string { return filepath.Join(r.tmp, recording.PartStdout) }
func (r *recorder) stderr() string { return filepath.Join(r.tmp, recording.PartStderr) }

// after returns a context for cleaning up, which outlives the caller's.
func after(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
}

// stop stops the program, whatever the state of ctx.
func (r *recorder) stop(ctx context.Context, p target.Program) {
	ctx, cancel := after(ctx)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		r.note("stopping the program: %v", err)
	}
}

// interrupted is the error for a context that ended in a phase.
func (r *recorder) interrupted(ctx context.Context) error {
	return &endError{what: "the recording was stopped in phase " + r.phase, err: context.Cause(ctx)}
}

// died returns the error for a program that exited while it was observed.
func (r *recorder) died(p target.Program) error {
	why := p.Exit().Failure()
	if why == "" {
		return &endError{what: "the program exited in phase " + r.phase, clean: true}
	}
	if e := (run{exit: p.Exit()}); e.finished() {
		return &endError{what: "the program exited in phase " + r.phase + ": " + why, clean: true}
	}
	return &endError{what: "the program died in phase " + r.phase + ": " + why + traceHazard(r.phase, r.out.Manifest().Runtime.Go)}
}

// endError ends a recording early; any other error of a phase only loses its part.
type endError struct {
	what  string
	err   error
	clean bool // the program exited successfully
}

func (e *endError) Error() string {
	if e.err != nil {
		return fmt.Sprintf("%s: %v", e.what, e.err)
	}
	return e.what
}

func (e *endError) Unwrap() error { return e.err }

// ended returns why the recording has to end now; nil when it can go on.
func (r *recorder) ended(ctx context.Context, p target.Program, gen generator) error {
	// The program comes first: its death often causes the rest.
	select {
	case <-p.Done():
		if ctx.Err() == nil {
			return r.died(p)
		}
	default:
	}
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	if gen != nil {
		select {
		case <-gen.Done():
			return &endError{what: "the load stopped in phase " + r.phase}
		default:
		}
	}
	return nil
}

// since rounds a time for people.
func since(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
