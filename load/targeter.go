package load

import (
	"errors"
	"fmt"
	"sync"
)

// Targeter says which request to send next, for loads whose requests are not known beforehand: IDs that
// count up, bodies that differ. All go to the host of the first.
type Targeter interface {
	// Target returns request i, from 0. Calls come one at a time, in the order of i, while other
	// requests wait, so Target must not block. The first targets are also asked for before a load
	// starts, and the last may never be sent.
	Target(i int64) Target
}

// TargeterFunc is a function as a Targeter.
type TargeterFunc func(i int64) Target

// Target calls f.
func (f TargeterFunc) Target(i int64) Target { return f(i) }

// generator builds the requests of a Targeter as they are sent.
type generator struct {
	origin origin // of all

	mu   sync.Mutex // of what follows
	from Targeter
	sent int64
}

// badTarget is a request that cannot be built.
type badTarget struct{ error }

// next returns the next request. Its error is a badTarget.
func (g *generator) next() (*request, error) {
	g.mu.Lock()
	t := g.from.Target(g.sent)
	g.sent++
	g.mu.Unlock()
	wire, o, err := t.wire()
	if err == nil && o != g.origin {
		err = errors.New("the requests of a Targeter must all go to the host of the first")
	}
	if err != nil {
		return nil, badTarget{fmt.Errorf("%s: %w", &t, err)}
	}
	return &request{wire: wire, head: t.Method == "HEAD", target: &t}, nil
}

// known returns the targets that are known before the load starts: all of the list, or the first n of the
// Targeter.
func (o *Options) known(n int) []Target {
	if o.Targeter == nil {
		return o.Targets
	}
	ts := make([]Target, n)
	for i := range ts {
		ts[i] = o.Targeter.Target(int64(i))
	}
	return ts
}
