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

// clock is the time since a generator's start, in nanoseconds. One reading
// costs about 25 ns, so the paths of requests pass readings on.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) }

// never is a point in time that does not come.
const never = int64(1)<<62 - 1

// conn is a keep-alive connection and the one request that is under way on it.
type conn struct {
	id      int // counts connections up
	origin  int
	nc      net.Conn
	rd      *reader
	clock   clock
	timeout int64
	reads   int64 // the read deadline that is set, on clock

	// What is under way. Whoever writes the request sets these and then busy;
	// whoever takes busy back accounts for the request.
	busy atomic.Bool
	req  *request
	due  int64 // on clock; only by schedule
	sent int64

	writing  sync.Mutex // held while somebody else than the reader writes
	hasLimit bool       // a write deadline is set
}

// dialer opens connections.
type dialer struct {
	net     net.Dialer
	tls     *tls.Config
	timeout time.Duration
	clock   clock
}

// dial opens a connection to o. The handshake of TLS belongs to it.
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

// deadline makes an error that came from ctx's deadline say so.
func deadline(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	return err
}

// tlsError marks what went wrong in a handshake.
type tlsError struct{ error }

func (e tlsError) Unwrap() error { return e.error }

// Read reads from the connection and enforces the request's timeout. Setting a
// deadline for each request would cost a tenth of the request; so the deadline
// stays where it is, always early enough for a request sent now, and when it
// passes before the request's own time is over it is moved on.
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
	// It fails only on a closed connection, and then so does the next read.
	_ = c.nc.SetReadDeadline(c.clock.start.Add(time.Duration(end)))
}

// largeRequest is from where a write may have to wait for the other side: below,
// the empty send buffer of a connection without a request under way takes all of it.
const largeRequest = 16 << 10

// write sends the request that is under way.
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

// answer reads the answer to the request that is under way. What follows it
// nobody asked for: such a connection cannot be trusted with another request.
func (c *conn) answer() (answer, error) {
	a, err := c.rd.read(c.req.head)
	a.close = a.close || c.rd.r < c.rd.w
	return a, err
}

// close breaks the connection off, with what is under way on it.
func (c *conn) close() { c.nc.Close() }
