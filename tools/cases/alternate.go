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
	"github.com/hone-go/hone/load"
)

// turn is how long one of some services is loaded before it is the next one's turn. A machine that
// is shared changes its speed from one second to the next, by more than a repair may bring: what
// all of them meet within some seconds cancels. Garbage collections are short beside it.
const turn = time.Second

// service is a running service and the load that goes to it.
type service struct {
	process *target.Process
	load    load.Options
}

// alternate starts all services, loads them interleaved in the order ABBA (of three: ABCCBA) and
// returns what each spent on its requests. Each gets length of load, after half as much to warm up.
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
	if _, err := byTurns(ctx, services, (turns+1)/2); err != nil {
		return nil, err
	}
	return byTurns(ctx, services, turns)
}

// byTurns loads each service n times. All CPU time of a process counts, also what it does when
// another has its turn: it still collects then what its requests left behind.
func byTurns(ctx context.Context, services []*service, n int) ([]recording.Phase, error) {
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
	for _, i := range backAndForth(len(services), n) {
		result, err := services[i].drive(ctx)
		if err != nil {
			return nil, err
		}
		phases[i].Requests += result.Requests
		phases[i].Seconds += result.Elapsed.Seconds()
		served[i].Merge(result.Service)
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

// backAndForth is an order in which each of so many sides has its turn n times, so that what
// drifts on the machine meets all of them alike: 0, 1, 1, 0, 0, 1, …
func backAndForth(sides, n int) []int {
	order := make([]int, 0, sides*n)
	for t := range n {
		for i := range sides {
			if t%2 == 1 {
				i = sides - 1 - i
			}
			order = append(order, i)
		}
	}
	return order
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
		return nil, fmt.Errorf("the service ended: %s", cmp.Or(s.process.Exit().Failure(), "exit code 0"))
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

// build builds a program as a recording does, with the probe, which stays idle.
func (r *runner) build(ctx context.Context, p program) (*target.Binary, error) {
	return target.Build(ctx, target.BuildSpec{
		Package: ".", Dir: r.dir(p), Bench: p.bench != "", BuildFlags: p.buildFlags(),
		WorkDir: filepath.Join(r.session.CacheDir, "alternate"),
	})
}

// buildAll builds programs; remove removes what was built.
func (r *runner) buildAll(ctx context.Context, programs []program) (binaries []*target.Binary, remove func(), err error) {
	remove = func() {
		for _, b := range binaries {
			b.Remove()
		}
	}
	for _, p := range programs {
		b, err := r.build(ctx, p)
		if err != nil {
			remove()
			return nil, nil, err
		}
		binaries = append(binaries, b)
	}
	return binaries, remove, nil
}

// buildFlags are those of the go command for a program.
func (p program) buildFlags() []string {
	if len(p.tags) == 0 {
		return nil
	}
	return []string{"-tags=" + strings.Join(p.tags, ",")}
}
