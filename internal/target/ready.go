package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

const (
	readyFirst   = 5 * time.Millisecond // between two tries, doubling
	readyLongest = 100 * time.Millisecond
	dialTimeout  = time.Second
)

// WaitReady waits until the address ("host:port", or "unix:PATH") accepts a connection, the program
// exits, or ctx is canceled. The error names the address and how the program exited.
func WaitReady(ctx context.Context, p Program, addr string) error {
	began := time.Now()
	pause := readyFirst
	var last error
	for {
		err := answers(ctx, addr)
		if err == nil {
			return nil
		}
		// An attempt that the deadline cut short does not concern the program; the one before it
		// does. The connection's own timer can end shortly before ctx does.
		if last == nil || ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			last = err
		}
		select {
		case <-p.Done():
			return endedBefore(p.Exit(), addr)
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s to answer: %w (last try: %v)",
				time.Since(began).Round(100*time.Millisecond), addr, ctx.Err(), last)
		case <-time.After(pause):
		}
		pause = min(2*pause, readyLongest)
	}
}

func endedBefore(e Exit, addr string) error {
	how := e.Failure()
	if how == "" {
		how = "exit code 0"
		if len(e.Stderr) > 0 {
			how += "; last lines on stderr: " + strings.Join(e.Stderr, " | ")
		}
	}
	return fmt.Errorf("%w before %s answered: %s", ErrEnded, addr, how)
}

// answers tries to connect.
func answers(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// PortTaken reports whether something answers at the address already: a program that is started now
// could not listen there, and hone would measure the other one.
func PortTaken(addr string) bool {
	return answers(context.Background(), addr) == nil
}
