package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// maxRuns bounds how often a program is run in one phase.
const maxRuns = 200

// run is one run of a program that exits.
type run struct {
	began     time.Time
	exit      target.Exit
	parts     map[string][]byte
	missing   map[string]string
	machine   [2]recording.CPUTime // before and after; zero where unknown
	truncated bool                 // the trace
	lines     []benchLine          // of a benchmark
}

// wall and cpu are the run's times without the probe's work at its exit.
func (r run) wall() float64 { return max(0, r.exit.Wall-r.exit.ProbeWall).Seconds() }
func (r run) cpu() float64  { return max(0, r.exit.Usage.CPUSeconds-r.exit.ProbeCPUSeconds) }

// program is a recording of a program that exits.
type program struct {
	*recorder
	start   startFunc
	spec    target.RunSpec
	samples func(runs []run) []sample
	phases  map[string]*runs
	after   func(*run) error // checks a run's output; nil: nothing to check
}

// recordProgram records the phases of a program; done are runs without collectors that took place
// already.
func (r *recorder) recordProgram(ctx context.Context, start startFunc, done []run) error {
	spec := r.spec()
	spec.Stdout = filepath.Join(r.tmp, "again-"+recording.PartStdout)
	spec.Stderr = filepath.Join(r.tmp, "again-"+recording.PartStderr)
	p := &program{recorder: r, start: start, spec: spec, samples: runSamples}
	return p.record(ctx, done)
}

// runSamples treats a run as a window.
func runSamples(runs []run) []sample {
	out := make([]sample, len(runs))
	for i, r := range runs {
		out[i] = sample{throughput: unknown, cpu: r.cpu()}
		if w := r.wall(); w > 0 {
			out[i].throughput = 1 / w
		}
	}
	return out
}

// runs are all runs of a phase.
type runs struct {
	list     []run
	began    time.Time
	used     time.Duration // by them
	budget   time.Duration // for them
	reported int           // runs in the last summary
}

func (rs *runs) add(r run, used time.Duration) {
	if len(rs.list) == 0 {
		rs.began = r.began
	}
	rs.list = append(rs.list, r)
	rs.used += used
}

// another reports whether one more run fits, or at least half of it.
func (rs *runs) another() bool {
	n := len(rs.list)
	return n == 0 || n < maxRuns && rs.used+rs.used/time.Duration(2*n) < rs.budget
}

// record runs all phases; done are runs of the clean phase that took place already.
func (p *program) record(ctx context.Context, done []run) error {
	p.phases = map[string]*runs{}
	for _, st := range plan(p.o.Duration, p.o.Phases) {
		rs := p.phases[st.phase]
		if rs == nil {
			rs = &runs{}
			p.phases[st.phase] = rs
		}
		rs.budget += st.length
		for _, r := range done {
			rs.add(r, r.exit.Wall)
		}
		done = nil
		var c collection
		err := p.runPhase(ctx, st.phase, rs, &c)
		if cerr := c.write(p.recorder); err == nil {
			err = cerr
		}
		if cerr := p.checkpoint(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runPhase runs the program until the phase's share of the duration is used.
func (p *program) runPhase(ctx context.Context, phase string, rs *runs, c *collection) (err error) {
	p.phase = phase
	collect := collectOf(phase)
	throttled, canThrot := p.world.throttled()
	before := len(rs.list)
	if before == 1 {
		err = p.failed(rs.list[0], 1) // the run that showed what kind of program it is
	}
	for err == nil && rs.another() {
		n := len(rs.list) + 1
		p.say(Event{Phase: phase, Text: fmt.Sprintf("run %d", n), At: rs.used, Of: rs.budget})
		var r run
		r, err = p.once(ctx, collect)
		if r.exit.Wall > 0 {
			c.take(r)
		}
		if err != nil {
			break // interrupted: its time is not that of a run
		}
		rs.add(r, time.Since(r.began))
		err = p.failed(r, n)
	}
	if len(rs.list) == 0 {
		return err
	}
	st := stretch{phase: phaseOfRuns(phase, rs), samples: p.samples(rs.list)}
	st.phase.ForcedGC = c.forced
	st.phase.Throttled = p.kept(phase).phase.Throttled
	if now, ok := p.world.throttled(); ok && canThrot {
		st.phase.Throttled += max(0, now-throttled)
	}
	if p.keep(st); len(rs.list) > rs.reported {
		rs.reported = len(rs.list)
		p.say(Event{Phase: phase, Text: runsText(st.phase), At: rs.used, Of: rs.budget, End: true})
	}
	return err
}

// collectOf returns what the probe collects in a phase.
func collectOf(phase string) target.Collect {
	switch phase {
	case recording.PhaseCPU:
		return target.Collect{CPU: true, Allocs: true}
	case recording.PhaseContention:
		return target.Collect{Contention: true}
	case recording.PhaseTrace:
		return target.Collect{Trace: true, TraceBytes: maxTraceBytes}
	}
	return target.Collect{}
}

// once runs the program to its end. When ctx ends first, it takes what was collected so far.
func (p *program) once(ctx context.Context, collect target.Collect) (run, error) {
	if ctx.Err() != nil {
		return run{}, p.interrupted(ctx)
	}
	spec := p.spec
	spec.Collect = collect
	r := run{began: time.Now()}
	r.machine[0], _ = p.world.machineCPU()
	proc, err := p.start(ctx, spec)
	if err != nil {
		return run{}, fmt.Errorf("run the program again in phase %s: %w", p.phase, err)
	}
	if p.phase == phaseStart {
		p.describeTarget(ctx, proc)
	}
	_, err = p.watch(ctx, proc, nil)
	p.stop(ctx, proc) // harmless when it has exited
	r.exit = proc.Exit()
	r.machine[1], _ = p.world.machineCPU()
	r.parts, r.missing = proc.Parts()
	if t, ok := proc.(interface{ Truncated(string) bool }); ok {
		r.truncated = t.Truncated("trace")
	}
	if err == nil && p.after != nil && r.exit.Failure() == "" {
		err = p.after(&r)
	}
	return r, err
}

// finishedCPU is the CPU time after which a program with a nonzero exit code counts as having done
// its work. One that used less most likely refused its arguments.
const finishedCPU = 0.2 // seconds

// finished reports whether a run that failed is still worth measuring.
func (r run) finished() bool {
	return r.exit.Code > 0 && r.exit.Code != panicked && r.cpu() >= finishedCPU
}

// panicked is the exit code of a Go program that died of a panic (runtime.exit(2)).
const panicked = 2

// failed returns the error for a run that failed.
func (p *program) failed(r run, n int) error {
	why := r.exit.Failure()
	code := r.exit.Code
	p.out.Update(func(m *recording.Manifest) { m.Target.ExitCode = &code })
	if why == "" {
		return nil
	}
	if r.finished() && p.o.Bench == "" {
		// Linters and tests exit like that when they worked: the profile is worth having, and the
		// manifest has the exit code.
		p.note("the program exits with code %d", code)
		return nil
	}
	if p.o.Bench != "" {
		if text, err := os.ReadFile(p.spec.Stdout); err == nil {
			why += "; it printed: " + lastWords(text)
		}
	}
	if n == 1 && (p.phase == recording.PhaseClean || p.phase == phaseStart) {
		return &endError{what: "the program failed: " + why}
	}
	return &endError{what: fmt.Sprintf("the program failed in phase %s, run %d: %s", p.phase, n, why) + traceHazard(p.phase, p.out.Manifest().Runtime.Go)}
}

// phaseOfRuns sums runs into a phase; a run is a window.
func phaseOfRuns(name string, rs *runs) recording.Phase {
	p := recording.Phase{Name: name, Start: rs.began.UTC(), Runs: len(rs.list)}
	for i, r := range rs.list {
		w := recording.Window{Seconds: r.wall(), CPUSeconds: r.cpu()}
		for _, l := range r.lines {
			l.Run = i + 1
			p.Benchmarks = recording.AddSample(p.Benchmarks, l.name, l.BenchSample)
		}
		u, h := r.exit.Usage, r.exit.Heap
		if len(r.lines) == 0 { // includes what benchmarks allocate while they search for the number of iterations
			w.AllocBytes, w.AllocObjects = h.AllocBytes, h.AllocObjects
		}
		p.AllocBytes += w.AllocBytes
		p.AllocObjects += w.AllocObjects
		p.GCCycles += h.GCCycles
		if i == 0 {
			p.GCSeconds, p.BusySeconds, p.LockSeconds = h.GCSeconds, h.BusySeconds, h.LockSeconds
		} else {
			addKnown(&p, h.GCSeconds, h.BusySeconds, h.LockSeconds)
		}
		p.SystemCPUSeconds += min(w.CPUSeconds, u.SystemSeconds)
		p.PageFaults += u.PageFaults
		p.ChildCPUSeconds += u.ChildCPUSeconds
		p.Windows = append(p.Windows, w)
		p.Seconds += w.Seconds
		p.CPUSeconds += w.CPUSeconds
		p.RSSBytes = max(p.RSSBytes, u.MaxRSS)
		addMachine(&p, r.machine[0], r.machine[1])
	}
	return p
}

func runsText(p recording.Phase) string {
	n := float64(p.Runs)
	return fmt.Sprintf("%s, %.3g s and %.3g s CPU each", count(p.Runs, "run"), p.Seconds/n, p.CPUSeconds/n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// errNone stands for a part that no run gave, without a reason.
var errNone = errors.New("no run sent it")
