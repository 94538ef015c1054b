//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestClosed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if closed(int(w.Fd()), int(file.Fd())) {
		t.Error("a pipe with a reader, or a file, is closed")
	}
	r.Close()
	if !closed(int(file.Fd()), int(w.Fd())) {
		t.Error("a pipe without a reader is open")
	}
}

// TestBrokenSocketsEndNothing: a write to a socket whose peer is gone raises SIGPIPE, too, but does
// not mean that the reader of hone's output is gone: the peer is the target's probe, or a service
// that closes a connection.
func TestBrokenSocketsEndNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	endWithReader(cancel)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	other.(*net.TCPConn).SetLinger(0)
	other.Close()
	for end := time.Now().Add(5 * time.Second); ; {
		if _, err := c.Write([]byte("x")); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the socket does not break")
		}
	}
	c.Write([]byte("x"))                                               // the first error may be that of the reset; the next is EPIPE
	if err := syscall.Kill(os.Getpid(), syscall.SIGPIPE); err != nil { // whatever came before, this one certainly comes
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
		t.Error("hone exited")
	case <-time.After(200 * time.Millisecond):
	}
}
