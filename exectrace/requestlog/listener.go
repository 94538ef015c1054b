package requestlog

import (
	"context"
	"net"
	"runtime/trace"
)

// Category and messages of the logs.
const (
	Category = "requestlog"
	Read     = "read"
	Write    = "write"
)

// Listener is a listener whose connections log their reads and writes while a trace is being
// recorded.
type Listener struct{ net.Listener }

// Accept waits for the next connection.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

func (c conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		trace.Log(context.Background(), Category, Read)
	}
	return n, err
}

func (c conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	trace.Log(context.Background(), Category, Write)
	return n, err
}
