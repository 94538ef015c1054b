package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/internal/trial"
)

// evidence is what was recorded and measured of a program of examples/promises. It is stored as
// JSON beside the recording, so that the current code's predictions can be compared with the same
// measurements.
type evidence struct {
	Program string              `json:"program"`
	Phases  [][]recording.Phase `json:"phases"` // of each variant, of each of its processes
}

// gather records the unchanged program and measures its variants without profiles.
func (r *runner) gather(ctx context.Context, f fixable, out string) (evidence, error) {
	e := evidence{Program: f.name}
	if _, err := r.record(ctx, f.program, capture.Options{Duration: r.duration, Out: out}); err != nil {
		return e, fmt.Errorf("record %s: %w", f.name, err)
	}
	var err error
	if e.Phases, err = r.measureVariants(ctx, f); err != nil {
		return e, fmt.Errorf("measure %s: %w", f.name, err)
	}
	return e, nil
}

// The work of a program in one iteration: a second or two. Up to six services are loaded one after
// the other; with long turns the machine could change its speed before the last one is loaded.
const (
	shortTurn    = time.Second / 2
	perRound     = 4 // turns of a service
	runsPerRound = 2
	// patience is how long iterations are added while a measurement is too wide to decide anything.
	patience   = 4 * time.Minute
	mostRounds = 1000
)

// layouts is how many executables of each variant are measured, each with its functions in another
// random order. With one order, all processes of a variant share its luck: a base whose loops
// happened to be aligned badly took 9 % more than the same code in another order, and every repair
// seemed to save that.
const layouts = 4

// measureVariants returns the phases of each variant, one per iteration: as many as the runner
// wants, rounded up to an even number, then more until every measurement is narrow enough or the
// runner's patience is over.
func (r *runner) measureVariants(ctx context.Context, f fixable) ([][]recording.Phase, error) {
	programs := f.variants()
	var builds [][]*target.Binary
	for seed := range layouts {
		binaries, remove, err := r.buildAll(ctx, programs, fmt.Sprintf("-ldflags=-randlayout=%d", seed+1))
		if err != nil {
			return nil, err
		}
		defer remove()
		builds = append(builds, binaries)
	}
	all := make([][]recording.Phase, len(programs))
	limits := trial.Limits{Least: r.processes, Most: r.processes, Budget: r.patience, Width: widest}
	if r.patience > 0 {
		limits.Most = mostRounds
	}
	// The trial has one variant, the iteration: within it, the programs are interleaved.
	round := 0
	err := trial.New(1, 0, limits).Run(ctx, func(ctx context.Context, _ int) error {
		binaries := builds[round%layouts]
		round++
		var phases []recording.Phase
		var err error
		if programs[0].isService() {
			phases, err = r.alternate(ctx, programs, binaries, perRound*r.turn)
		} else {
			phases, err = r.runInterleaved(ctx, programs, binaries, runsPerRound)
		}
		for i, p := range phases {
			all[i] = append(all[i], p)
		}
		return err
	}, func() float64 { return f.widest(all) })
	return all, err
}

// widest returns the width of the widest measurement, of one repair or of all together; +Inf while
// one is unknown.
func (f fixable) widest(phases [][]recording.Phase) float64 {
	width := 0.0
	for i := range phases[1:] {
		metric := f.fixes[0].metric // of all together
		if i < len(f.fixes) {
			metric = f.fixes[i].metric
		}
		fact, _, err := saved(metric, phases[0], phases[1+i])
		if err != nil || !fact.Known() {
			return math.Inf(1)
		}
		width = math.Max(width, fact.High-fact.Low)
	}
	return width
}

// runInterleaved runs each program n times, interleaved.
func (r *runner) runInterleaved(ctx context.Context, programs []program, binaries []*target.Binary, n int) ([]recording.Phase, error) {
	phases := make([]recording.Phase, len(programs))
	err := interleave(ctx, len(programs), n, func(ctx context.Context, i int) error {
		exit, err := runOnce(ctx, programs[i], binaries[i])
		if err != nil {
			return fmt.Errorf("run %s: %w", programs[i].name, err)
		}
		phases[i].Runs++
		phases[i].Seconds += (exit.Wall - exit.ProbeWall).Seconds()
		phases[i].CPUSeconds += exit.Usage.CPUSeconds - exit.ProbeCPUSeconds
		return nil
	})
	return phases, err
}

// runLimit is the time limit of one run: the programs take about a second.
const runLimit = time.Minute

// runOnce runs a program, or a fixed number of iterations of a benchmark, until it exits.
func runOnce(ctx context.Context, p program, b *target.Binary) (target.Exit, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	args := p.args
	if p.bench != "" {
		args = []string{"-test.run=^$", "-test.bench=" + p.bench, fmt.Sprintf("-test.benchtime=%dx", p.iterations)}
	}
	process, err := b.Start(ctx, target.RunSpec{Args: args, Dir: b.Dir})
	if err != nil {
		return target.Exit{}, err
	}
	<-process.Done() // closed when ctx ends
	exit := process.Exit()
	if why := exit.Failure(); why != "" || exit.Stopped {
		return exit, fmt.Errorf("it failed: %s", cmp.Or(why, "stopped"))
	}
	return exit, ctx.Err()
}
