package load

import (
	"context"
	"crypto/tls"
	"sync"
)

// connSet is the set of open connections of a generator.
type connSet struct {
	mu     sync.Mutex
	set    map[*conn]struct{}
	serial int   // connections so far
	opened int64 // since the last count
	closed bool
	last   int // open when closed
}

// add adds c. If the load is over, it closes c and returns false.
func (s *connSet) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.close()
		return false
	}
	if s.set == nil {
		s.set = map[*conn]struct{}{}
	}
	s.set[c] = struct{}{}
	c.id = s.serial
	s.serial++
	s.opened++
	return true
}

func (s *connSet) remove(c *conn) {
	s.mu.Lock()
	delete(s.set, c)
	s.mu.Unlock()
}

// closeAll closes every connection, and makes add close later ones.
func (s *connSet) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.last = true, len(s.set)
	for c := range s.set {
		c.close()
	}
}

// count adds the connections opened since the last call to r.
func (s *connSet) count(r *Result) {
	s.mu.Lock()
	r.OpenConns, r.Waiting = len(s.set), 0
	if s.closed {
		r.OpenConns = s.last
	} else {
		for c := range s.set {
			if c.busy.Load() {
				r.Waiting++
			}
		}
	}
	r.ConnsOpened += s.opened
	s.opened = 0
	s.mu.Unlock()
}

// connect opens a connection to an origin and keeps it in the set.
func (g *Generator) connect(origin int) (*conn, error) {
	c, err := g.dialer.dial(g.ctx, g.origins[origin])
	if err != nil {
		return nil, err
	}
	c.origin = origin
	if !g.conns.add(c) {
		return nil, context.Canceled
	}
	return c, nil
}

// drop closes c and forgets it; nil is fine.
func (g *Generator) drop(c *conn) {
	if c != nil {
		c.close()
		g.conns.remove(c)
	}
}

// warm opens the initial connections, spread over the origins. Failed ones are nil; if all fail,
// the error says why. A name is resolved once, by the first connection: the others use the address
// that answered.
func (g *Generator) warm() ([]*conn, error) {
	conns := make([]*conn, g.o.Connections)
	var lastErr error
	some := false
	spread := 1 // a closed loop's workers open connections to other origins themselves
	if g.o.Schedule != nil {
		spread = len(g.origins)
	}
	for o := range spread {
		if o >= len(conns) {
			break
		}
		c, err := g.connect(o)
		if err != nil {
			lastErr = err
			continue
		}
		g.origins[o].addr = c.nc.RemoteAddr().String()
		conns[o], some = c, true
	}
	if !some {
		return nil, lastErr
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := spread; i < len(conns); i++ {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			// A failed connection is tried again when it is needed, and counted then.
			conns[i], _ = g.connect(i % spread)
		})
	}
	wait.Wait()
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	return conns, nil
}

func newDialer(o *Options, clk clock) dialer {
	cfg := &tls.Config{}
	if o.TLS != nil {
		cfg = o.TLS.Clone()
	}
	cfg.NextProtos = []string{"http/1.1"} // the only protocol this package speaks
	if cfg.ClientSessionCache == nil {
		cfg.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return dialer{tls: cfg, timeout: o.Timeout, clock: clk}
}
