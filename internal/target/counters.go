package target

import (
	"context"
	"io"
)

// Names of the parts of Collect.Counters.
const (
	PartCountersMeta = "counters.meta"
	PartCounters     = "counters"
)

// CountersMeta returns the meta-data of the program's coverage instrumentation, in Go's own format
// (package covdata). For a program built without BuildSpec.Counted the error is a *Missing.
func (p *Process) CountersMeta(ctx context.Context) ([]byte, error) {
	return p.coverage(ctx, "meta")
}

// Counters returns how often each instrumented block has run since the start or the last
// ClearCounters, in Go's own format.
func (p *Process) Counters(ctx context.Context) ([]byte, error) {
	return p.coverage(ctx, "counters")
}

// ClearCounters sets all counters to zero. Whether executions during the call are counted is
// undefined.
func (p *Process) ClearCounters(ctx context.Context) error {
	_, err := p.ask(ctx, "counters of executions", shortAnswer, io.Discard, "coverage", "clear")
	return err
}

func (p *Process) coverage(ctx context.Context, what string) ([]byte, error) {
	var b boundedBuffer
	if _, err := p.ask(ctx, "counters of executions", longAnswer, &b, "coverage", what); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
