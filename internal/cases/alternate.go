package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// turn is how long one of two services is loaded before it is the other's turn. A machine that
// is shared changes its speed from one second to the next, by more than a repair may bring: what
// both sides meet within two seconds cancels. Garbage collections are short beside it.
const turn = time.Second

// service is a running service and the load that goes to it.
type service struct {
	process *target.Process
	load    load.Options
}

// alternate starts both services, loads them by turns in the order ABBA and returns what each spent
// on its requests. Each gets length of load, after half as much to warm up.
func (r *runner) alternate(ctx context.Context, programs [2]program, binaries [2]*target.Binary, length time.Duration) (phases [2]recording.Phase, err error) {
	var services [2]*service
	for i, p := range programs {
		s, err := r.start(ctx, p, binaries[i])
		if err != nil {
			return phases, fmt.Errorf("%s: %w", p.dir, err)
		}
		defer s.process.Stop(context.WithoutCancel(ctx))
		services[i] = s
	}
	turns := int(length / turn)
	if _, err := byTurns(ctx, services, (turns+1)/2); err != nil {
		return phases, err
	}
	return byTurns(ctx, services, turns)
}

// byTurns loads each service n times. All CPU time of a process counts, also what it does when the
// other has its turn: it still collects then what its requests left behind.
func byTurns(ctx context.Context, services [2]*service, n int) (phases [2]recording.Phase, err error) {
	for i, s := range services {
		usage, err := s.process.Usage(ctx)
		if err != nil {
			return phases, err
		}
		phases[i].CPUSeconds = -usage.CPUSeconds
	}
	for t := range 2 * n {
		i := (t + 1) / 2 % 2 // 0, 1, 1, 0, …
		result, err := services[i].drive(ctx)
		if err != nil {
			return phases, err
		}
		phases[i].Requests += result.Requests
		phases[i].Seconds += result.Elapsed.Seconds()
	}
	for i, s := range services {
		usage, err := s.process.Usage(ctx)
		if err != nil {
			return phases, err
		}
		phases[i].CPUSeconds += usage.CPUSeconds
	}
	return phases, nil
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
	return &service{process, load.Options{Targets: targets, Connections: p.connections, MaxDuration: turn}}, nil
}

// build builds a program as a recording does, with the probe, which stays idle.
func (r *runner) build(ctx context.Context, p program) (*target.Binary, error) {
	return target.Build(ctx, target.BuildSpec{
		Package: ".", Dir: r.dir(p), WorkDir: filepath.Join(r.session.CacheDir, "alternate"),
	})
}
