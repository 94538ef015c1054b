package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/internal/trial"
	"github.com/hone-go/hone/load"
)

// turn is how long one service is loaded before the next one. The speed of a shared machine changes
// from second to second by more than a fix may save; what affects all services within a few seconds
// cancels out. Garbage collections are short compared to a turn.
const turn = time.Second

// service is a running service with its load.
type service struct {
	process *target.Process
	load    load.Options
}

// alternate starts all services, loads them interleaved, and returns what each spent on its
// requests. Each is loaded for length, after a warm-up of half of that, both rounded up to an even
// number of turns.
func (r *runner) alternate(ctx context.Context, programs []program, binaries []*target.Binary, length time.Duration) ([]recording.Phase, error) {
	services := make([]*service, len(programs))
	for i, p := range programs {
		s, err := r.start(ctx, p, binaries[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.dir, err)
		}
		defer s.process.Stop(context.WithoutCancel(ctx))
		services[i] = s
	}
	turns := int(length / r.turn)
	if _, err := loadInterleaved(ctx, services, (turns+1)/2); err != nil {
		return nil, err
	}
	return loadInterleaved(ctx, services, turns)
}

// loadInterleaved loads each service n times. It counts all CPU time of a process, including the
// time while another service is loaded: the process may still be collecting the garbage of its own
// requests.
func loadInterleaved(ctx context.Context, services []*service, n int) ([]recording.Phase, error) {
	phases := make([]recording.Phase, len(services))
	served := make([]*histogram.Histogram, len(services))
	for i, s := range services {
		usage, err := s.process.Usage(ctx)
		if err != nil {
			return nil, err
		}
		phases[i].CPUSeconds = -usage.CPUSeconds
		served[i] = histogram.New()
	}
	err := interleave(ctx, len(services), n, func(ctx context.Context, i int) error {
		result, err := services[i].drive(ctx)
		if err != nil {
			return err
		}
		phases[i].Requests += result.Requests
		phases[i].Seconds += result.Elapsed.Seconds()
		served[i].Merge(result.Service)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, s := range services {
		usage, err := s.process.Usage(ctx)
		if err != nil {
			return nil, err
		}
		phases[i].CPUSeconds += usage.CPUSeconds
		if sum := served[i].Summary(); sum != nil {
			phases[i].Service = &recording.Quantiles{P50: sum.P50, P90: sum.P90, P99: sum.P99, P999: sum.P999, Max: sum.Max}
		}
	}
	return phases, nil
}

// interleave runs each of the variants n times, rounded up to an even number, interleaved.
func interleave(ctx context.Context, variants, n int, once func(ctx context.Context, variant int) error) error {
	return trial.New(variants, uint64(time.Now().UnixNano()), trial.Limits{Most: n}).Run(ctx, once, nil)
}

// drive loads the service for one turn.
func (s *service) drive(ctx context.Context) (*load.Result, error) {
	g, err := load.Start(ctx, s.load)
	if err != nil {
		return nil, err
	}
	select {
	case <-g.Done():
	case <-s.process.Done():
	}
	result := g.Stop()
	switch failed := result.Failed(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case ended(s.process):
		return nil, fmt.Errorf("the service exited: %s", cmp.Or(s.process.Exit().Failure(), "exit code 0"))
	case result.Requests == 0 || failed > 0:
		return nil, fmt.Errorf("%d of %d requests failed", failed, result.Requests)
	}
	return result, nil
}

func ended(p *target.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// start starts a service on a free port and waits until it listens.
func (r *runner) start(ctx context.Context, p program, b *target.Binary) (*service, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	dir := r.dir(p)
	targets, err := p.load(dir, addr)
	if err != nil {
		return nil, err
	}
	process, err := b.Start(ctx, target.RunSpec{Args: append([]string{cmp.Or(p.addrFlag, "-addr"), addr}, p.args...), Dir: dir})
	if err != nil {
		return nil, err
	}
	if err := target.WaitReady(ctx, process, addr); err != nil {
		process.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	return &service{process, load.Options{Targets: targets, Connections: p.connections, MaxDuration: r.turn}}, nil
}

// build builds a program with the probe, as a recording does; the probe stays idle.
func (r *runner) build(ctx context.Context, p program, flags ...string) (*target.Binary, error) {
	return target.Build(ctx, target.BuildSpec{
		Package: ".", Dir: r.dir(p), Bench: p.bench != "", BuildFlags: append(p.buildFlags(), flags...),
		WorkDir: filepath.Join(r.session.CacheDir, "alternate"),
	})
}

// buildAll builds programs, with further flags; remove removes the binaries.
func (r *runner) buildAll(ctx context.Context, programs []program, flags ...string) (binaries []*target.Binary, remove func(), err error) {
	remove = func() {
		for _, b := range binaries {
			b.Remove()
		}
	}
	for _, p := range programs {
		b, err := r.build(ctx, p, flags...)
		if err != nil {
			remove()
			return nil, nil, err
		}
		binaries = append(binaries, b)
	}
	return binaries, remove, nil
}

// buildFlags returns the flags of the go command for a program.
func (p program) buildFlags() []string {
	if len(p.tags) == 0 {
		return nil
	}
	return []string{"-tags=" + strings.Join(p.tags, ",")}
}
