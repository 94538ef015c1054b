package capture

import (
	"context"
	"fmt"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// world is what a recording needs from its environment, each a function or a small interface, so
// that tests can substitute a program and a load of their own.
type world struct {
	build      func(context.Context, target.BuildSpec) (*target.Binary, startFunc, error)
	attach     func(context.Context, string, target.AttachOptions) (target.Program, error)
	waitReady  func(context.Context, target.Program, string) error
	portTaken  func(addr string) error
	tryLoad    func(context.Context, load.Options) error
	answers    func(context.Context, load.Options, int) ([]load.Answer, error)
	startLoad  func(context.Context, load.Options) (generator, error)
	throttled  func() (float64, bool)
	machineCPU func() (recording.CPUTime, bool)
	tick       time.Duration // a window's length, about
	listenAt   time.Duration // when to ask a program whether it is a service
	patience   time.Duration // for the profiles of rest under load; then it ends
	restLimit  time.Duration // for those of rest after that
	freeAgain  time.Duration // that a run with an instrument may take in any case
}

// startFunc starts the binary that was built.
type startFunc func(context.Context, target.RunSpec) (process, error)

// process is a program that hone started.
type process interface {
	target.Program
	Parts() (parts map[string][]byte, missing map[string]string)
}

// generator is a running load.
type generator interface {
	Cut() *load.Result
	Done() <-chan struct{}
	Stop() *load.Result
}

func realWorld() world {
	return world{
		build: func(ctx context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
			b, err := target.Build(ctx, s)
			if err != nil {
				return nil, nil, err
			}
			return b, func(ctx context.Context, s target.RunSpec) (process, error) {
				p, err := b.Start(ctx, s)
				if err != nil {
					return nil, err // not a nil *Process in an interface
				}
				return p, nil
			}, nil
		},
		attach: func(ctx context.Context, url string, o target.AttachOptions) (target.Program, error) {
			r, err := target.Attach(ctx, url, o)
			if err != nil {
				return nil, err
			}
			return r, nil
		},
		waitReady: target.WaitReady,
		portTaken: portTaken,
		tryLoad:   load.Try,
		answers:   load.Answers,
		startLoad: func(ctx context.Context, o load.Options) (generator, error) {
			g, err := load.Start(ctx, o)
			if err != nil {
				return nil, err
			}
			return g, nil
		},
		throttled:  recording.Throttled,
		machineCPU: recording.MachineCPU,
		tick:       time.Second,
		listenAt:   time.Second,
		patience:   15 * time.Second,
		restLimit:  45 * time.Second,
		freeAgain:  freeAgain,
	}
}

// portTaken fails when something answers at addr before the target was started: the load would
// measure that instead.
func portTaken(addr string) error {
	if !target.PortTaken(addr) {
		return nil
	}
	return fmt.Errorf("%s is taken: another process listens there already, and the load would measure that one; stop it, or choose another port", addr)
}
