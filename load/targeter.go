package load

import (
	"errors"
	"fmt"
	"sync"
)

// Targeter generates the requests of a load, for example with increasing IDs or different bodies.
// All requests must go to the host of the first one.
type Targeter interface {
	// Target returns request i, from 0. Calls do not overlap and i increases by one. The
	// generator's locks are held during a call: other requests wait for it, so Target must be fast,
	// and it must not call methods of the Generator. Target is also called for the first requests
	// before the load starts, and the last requests may not be sent.
	Target(i int64) Target
}

// TargeterFunc is an adapter to use a function as a Targeter.
type TargeterFunc func(i int64) Target

// Target returns f(i).
func (f TargeterFunc) Target(i int64) Target { return f(i) }

// generator builds the requests of a Targeter as they are sent.
type generator struct {
	origin origin // of all

	mu   sync.Mutex // of what follows
	from Targeter
	sent int64
}

// badTarget is the error of a request that cannot be built.
type badTarget struct{ error }

// next returns the next request. An error is a badTarget.
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

// known returns the targets known before the load starts: the list, or the first n of the Targeter.
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
