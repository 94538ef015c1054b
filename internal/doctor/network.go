package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// portRange is the range of ports for outgoing connections.
type portRange struct {
	first, last int
	err         error
}

// timeWait is how long a port cannot be used after a connection is closed (Linux; RFC 9293 requires
// twice the segment's lifetime).
const timeWait = 60 // seconds

func judgePorts(p portRange) Check {
	const name, few = "ports", 10_000
	if p.err != nil {
		return ok(name, fmt.Sprintf("range of outgoing connections unknown: %v", p.err))
	}
	n := p.last - p.first + 1
	detail := fmt.Sprintf("%d for outgoing connections (%d to %d)", n, p.first, p.last)
	if n < few {
		return warn(name, detail+fmt.Sprintf(": without keep-alive they are used up at about %d requests/s", n/timeWait),
			`widen it (Linux: sysctl -w net.ipv4.ip_local_port_range="10240 65535"), or keep connections alive`)
	}
	return ok(name, detail)
}

// loopback is the time of a round trip over loopback.
type loopback struct {
	median time.Duration
	err    error
}

func readLoopback(ctx context.Context) loopback {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return loopback{err: err}
	}
	defer listener.Close()
	go echo(listener)

	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return loopback{err: err}
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return loopback{err: err}
	}
	var trips []time.Duration
	var b [1]byte
	for range 20 {
		start := time.Now()
		if _, err := conn.Write(b[:]); err != nil {
			return loopback{err: err}
		}
		if _, err := conn.Read(b[:]); err != nil {
			return loopback{err: err}
		}
		trips = append(trips, time.Since(start))
	}
	slices.Sort(trips)
	return loopback{median: trips[len(trips)/2]}
}

// echo answers one connection until it or the listener is closed.
func echo(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	var b [1]byte
	for {
		if _, err := conn.Read(b[:]); err != nil {
			return
		}
		if _, err := conn.Write(b[:]); err != nil {
			return
		}
	}
}

func judgeLoopback(l loopback) Check {
	const name = "loopback"
	switch {
	case errors.Is(l.err, context.Canceled):
		return ok(name, "unknown: interrupted")
	case l.err != nil:
		return fail(name, fmt.Sprintf("no connection to 127.0.0.1: %v; hone cannot send load to what it starts", l.err),
			"bring the loopback interface up (Linux: ip link set lo up), and allow local connections in the firewall")
	}
	return ok(name, fmt.Sprintf("a byte to 127.0.0.1 and back takes %v", l.median.Round(time.Microsecond)))
}
