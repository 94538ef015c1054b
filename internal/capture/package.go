package capture

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// recordPackage builds the package, finds out what kind of program it is, and records it.
func (r *recorder) recordPackage(ctx context.Context) error {
	var addrs []string
	if r.o.Load != nil {
		var err error
		if addrs, err = r.freeAddrs(); err != nil {
			return err
		}
	}
	bin, start, err := r.build(ctx)
	if err != nil {
		return err
	}
	defer bin.Remove()
	r.describeBinary(bin)
	if !bin.Probe {
		return fmt.Errorf("hone cannot look into %s: %s; start it yourself and give its URL, where it serves net/http/pprof",
			r.o.Package, strings.Join(bin.Notes, "; "))
	}
	switch {
	case r.o.Bench != "":
		err = r.recordBench(ctx, bin, start)
	case r.o.Load != nil:
		err = r.recordLoaded(ctx, start, addrs)
	default:
		err = r.recordUndeclared(ctx, start)
	}
	if err != nil {
		return err
	}
	if err := r.recordLeaks(ctx, addrs); err != nil {
		return err
	}
	if err := r.recordCounts(ctx, addrs); err != nil {
		return err
	}
	if err := r.recordInits(ctx, start); err != nil {
		return err
	}
	if err := r.recordInputs(ctx, addrs); err != nil {
		return err
	}
	return r.recordUpgrade(ctx)
}

// freeAddrs lists the addresses that the load goes to; nothing may listen there yet.
func (r *recorder) freeAddrs() ([]string, error) {
	addrs, err := loadAddrs(r.o.Load)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if err := r.world.portTaken(a); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

func (r *recorder) build(ctx context.Context) (*target.Binary, startFunc, error) {
	r.phase = phaseBuild
	began := time.Now()
	r.say(Event{Phase: r.phase, Text: r.o.Package})
	bin, start, err := r.buildTarget(ctx, target.BuildSpec{})
	if err == nil {
		r.say(Event{Phase: r.phase, Text: bin.ImportPath + " built", At: since(began), End: true})
	}
	return bin, start, err
}

// buildTarget builds the target, with counters or without the probe if the spec says so.
func (r *recorder) buildTarget(ctx context.Context, counters target.BuildSpec) (*target.Binary, startFunc, error) {
	work := r.o.WorkDir
	if work == "" {
		work = filepath.Join(r.tmp, "work")
	}
	bctx, cancel := context.WithTimeout(ctx, r.o.Timeout)
	defer cancel()
	bin, start, err := r.world.build(bctx, target.BuildSpec{
		Package: r.o.Package, Dir: r.o.Dir, Bench: r.o.Bench != "", BuildFlags: r.o.BuildFlags, Env: r.o.BuildEnv, WorkDir: work,
		Counted: counters.Counted, Inputs: counters.Inputs, Leaks: counters.Leaks, NoProbe: counters.NoProbe,
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = r.interrupted(ctx)
	case bctx.Err() != nil:
		err = fmt.Errorf("building %s did not end within %s", r.o.Package, r.o.Timeout)
	}
	return bin, start, err
}

// spec returns how to run the target for the first time.
func (r *recorder) spec() target.RunSpec {
	return target.RunSpec{
		Args: r.o.Args, Dir: r.o.RunDir, Env: r.o.Env, Stdin: r.o.Stdin, Stdout: r.stdout(), Stderr: r.stderr(), Echo: r.o.Output,
	}
}

// recordLoaded records a service under load.
func (r *recorder) recordLoaded(ctx context.Context, start startFunc, addrs []string) error {
	r.phase = phaseStart
	began := time.Now()
	r.say(Event{Phase: r.phase, Text: "waiting for " + strings.Join(addrs, ", ")})
	proc, err := start(ctx, r.spec())
	if err != nil {
		return err
	}
	for _, a := range addrs {
		if err == nil {
			err = r.ready(ctx, proc, a)
		}
	}
	if err == nil {
		r.say(Event{Phase: r.phase, Text: strings.Join(addrs, ", ") + " answers", At: since(began), End: true})
		err = (&service{recorder: r, prog: proc, local: true}).record(ctx)
	}
	return r.endOf(ctx, proc, err)
}

// ready waits for the service's port.
func (r *recorder) ready(ctx context.Context, proc process, addr string) error {
	limit := min(r.o.Timeout, readyLimit)
	wctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := r.world.waitReady(wctx, proc, addr)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return r.interrupted(ctx)
	case wctx.Err() != nil:
		ictx, cancel := after(ctx)
		defer cancel()
		if info, ierr := proc.Info(ictx); ierr == nil && info.Listening {
			return fmt.Errorf("the program listens, but not at %s, for %s; is that the address of the load?", addr, limit)
		}
		return fmt.Errorf("nothing listens at %s after %s: the program did not become ready", addr, limit)
	}
	return err
}

// endOf stops the program and keeps what it printed.
func (r *recorder) endOf(ctx context.Context, proc process, err error) error {
	early := false
	select {
	case <-proc.Done():
		early = true
	default:
	}
	r.stop(ctx, proc)
	if early && ctx.Err() == nil {
		code := proc.Exit().Code
		r.out.Update(func(m *recording.Manifest) { m.Target.ExitCode = &code })
	}
	if !r.out.Started() {
		return err
	}
	r.noteDropped(proc.Exit())
	if oerr := r.addOutput(); err == nil {
		err = oerr
	}
	return err
}

func (r *recorder) noteDropped(e target.Exit) {
	for name, n := range map[string]int64{recording.PartStdout: e.DroppedStdout, recording.PartStderr: e.DroppedStderr} {
		if n > 0 {
			r.note("%s holds the first %d MB; %d bytes more were dropped", name, target.OutputCap>>20, n)
		}
	}
}

// mostOutlast limits how long hone waits for the exit of a program that listens and works without
// load: one that sends its own load exits when it has done so.
const mostOutlast = 20 * time.Second

// busy reports whether the program worked in its clean phase though nobody sent it load.
func (r *recorder) busy() bool {
	const least = 0.2 // of a core
	m := r.out.Manifest()
	ph, ok := m.Phase(recording.PhaseClean)
	return ok && ph.Seconds > 0 && ph.CPUSeconds >= least*ph.Seconds
}

// outlast waits for a busy program to exit, and returns its error; nil while it runs on.
func (r *recorder) outlast(ctx context.Context, proc process) error {
	r.say(Event{Phase: r.phase, Text: fmt.Sprintf("it works without load: waiting up to %s for it to exit", min(mostOutlast, r.o.Timeout))})
	wait := time.NewTimer(min(mostOutlast, r.o.Timeout))
	defer wait.Stop()
	select {
	case <-proc.Done():
		return r.died(proc)
	case <-ctx.Done():
		return r.interrupted(ctx)
	case <-wait.C:
		return nil
	}
}

// recordUndeclared records a program that may be a service or may exit: running it shows which.
func (r *recorder) recordUndeclared(ctx context.Context, start startFunc) error {
	r.phase = recording.PhaseClean
	began := time.Now()
	idle, _ := r.world.machineCPU()
	proc, err := start(ctx, r.spec())
	if err != nil {
		return err
	}
	r.describeTarget(ctx, proc)
	if err := r.begin(); err != nil {
		return r.endOf(ctx, proc, err)
	}
	r.say(Event{Phase: r.phase, Text: "running it"})
	listens, err := r.watch(ctx, proc, r.isService)
	looked := true // the run is one without collectors
	if err == nil && listens {
		r.out.Update(func(m *recording.Manifest) { m.Target.Kind = kindService })
		how := "observed without load"
		if r.o.LoadCommand != "" {
			how = "driven by " + describeCommand(r.o.LoadCommand)
		}
		r.say(Event{Phase: phaseStart, Text: "it listens: a service, " + how, At: since(began), End: true})
		was := r.out.Manifest()
		s := &service{recorder: r, prog: proc, local: true}
		err = s.record(ctx)
		if err == nil && r.o.LoadCommand == "" && r.busy() {
			err = r.outlast(ctx, proc)
		}
		var end *endError
		if !errors.As(err, &end) || !end.clean {
			return r.endOf(ctx, proc, err)
		}
		// It exited successfully: it is a program that exits after all. Under the
		// assumption of a service, each collector saw another part of the one run, so it is run
		// again.
		looked = r.phase == recording.PhaseClean && len(r.stretches) <= 1
		r.say(Event{Phase: phaseStart, Text: "it exited: a program, run again for each phase", At: since(began), End: true})
		r.forget(was)
		err = nil
	}
	r.out.Update(func(m *recording.Manifest) { m.Target.Kind = kindProgram })
	err = r.endOf(ctx, proc, err)
	if err != nil {
		return err
	}
	if r.o.LoadCommand != "" {
		return fmt.Errorf("%s exited: -load_cmd is for a service, which listens until it is stopped", r.o.Arg)
	}
	done, _ := r.world.machineCPU()
	var first []run
	if looked {
		first = []run{{exit: proc.Exit(), began: began, machine: [2]recording.CPUTime{idle, done}}}
	}
	return r.recordProgram(ctx, start, first)
}
