package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// clock is the time since a generator's start, in nanoseconds. A reading costs about 25 ns, so
// functions on the path of a request pass readings as arguments.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) }

// never is later than any time on a clock.
const never = int64(1)<<62 - 1

// conn is a keep-alive connection and the request in flight on it.
type conn struct {
	id      int // counts connections up
	origin  int
	nc      net.Conn
	rd      *reader
	clock   clock
	timeout int64
	reads   int64 // the read deadline that is set, on clock

	// The request in flight. The writer sets these fields and then busy. Whoever clears busy
	// records the outcome of the request.
	busy atomic.Bool
	req  *request
	due  int64 // on clock; only by schedule
	sent int64

	writing  sync.Mutex // held while a goroutine other than the reader writes
	hasLimit bool       // a write deadline is set
}

// dialer opens connections.
type dialer struct {
	net     net.Dialer
	tls     *tls.Config
	timeout time.Duration
	clock   clock
}

// dial opens a connection to o, including the TLS handshake.
func (d *dialer) dial(ctx context.Context, o origin) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	nc, err := d.net.DialContext(ctx, "tcp", o.addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", o.addr, deadline(ctx, err))
	}
	if o.https {
		cfg := d.tls.Clone()
		if cfg.ServerName == "" {
			cfg.ServerName = o.host
		}
		tc := tls.Client(nc, cfg)
		if err := tc.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, fmt.Errorf("TLS with %s: %w", o.addr, tlsError{deadline(ctx, err)})
		}
		nc = tc
	}
	c := &conn{nc: fast(nc), clock: d.clock, timeout: int64(d.timeout), reads: never}
	c.rd = newReader(c)
	return c, nil
}

// deadline returns os.ErrDeadlineExceeded if ctx's deadline has passed, else err.
func deadline(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	return err
}

// tlsError is an error of a TLS handshake.
type tlsError struct{ error }

func (e tlsError) Unwrap() error { return e.error }

// Read reads from the connection and enforces the request's timeout. Setting a deadline for each
// request would cost a tenth of the request. So the deadline stays where it is, never later than
// that of a request sent now. If it passes before the request times out, Read extends it.
func (c *conn) Read(b []byte) (int, error) {
	for {
		if c.reads == never {
			c.extend(c.clock.now() + c.timeout)
		}
		n, err := c.nc.Read(b)
		if n > 0 || err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		now := c.clock.now()
		end := now + c.timeout
		if c.busy.Load() {
			end = c.sent + c.timeout
			if end <= now {
				return 0, err
			}
		}
		c.extend(end)
	}
}

func (c *conn) extend(end int64) {
	c.reads = end
	// It fails only on a closed connection; then the next read fails too.
	_ = c.nc.SetReadDeadline(c.clock.start.Add(time.Duration(end)))
}

// largeRequest is the size from which a write may block: the empty send buffer of an idle
// connection holds smaller requests.
const largeRequest = 16 << 10

// write sends the request in flight.
func (c *conn) write() error {
	if large := len(c.req.wire) >= largeRequest; large || c.hasLimit {
		var limit time.Time
		if large {
			limit = c.clock.start.Add(time.Duration(c.sent + c.timeout))
		}
		c.hasLimit = large
		_ = c.nc.SetWriteDeadline(limit)
	}
	_, err := c.nc.Write(c.req.wire)
	return err
}

// answer reads the response to the request in flight. If unrequested data follows it, the
// connection is not used again.
func (c *conn) answer() (answer, error) {
	last := c.req.last
	if last != nil {
		if c.rd.sample == nil {
			c.rd.sample = make([]byte, 0, comparedBody)
		}
		c.rd.sample, c.rd.body = c.rd.sample[:0], 0
	}
	a, err := c.rd.read(c.req.head)
	a.close = a.close || c.rd.r < c.rd.w
	if last != nil && err == nil {
		a.bodies = last.seen(&a, c.rd)
	}
	return a, err
}

// close closes the connection, aborting the request in flight.
func (c *conn) close() { c.nc.Close() }
