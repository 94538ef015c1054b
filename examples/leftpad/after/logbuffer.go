package main

import (
	"bufio"
	"io"
	"sync"
	"time"
)

const (
	logBufferSize = 64 << 10
	logFlushEvery = time.Second // the longest that a line waits
)

// logBuffer gathers log lines and writes many of them in one call, so that a
// request does not wait for the log file. What it holds is written when it is
// full, every logFlushEvery, and by Close; a crash loses up to that much.
type logBuffer struct {
	mu   sync.Mutex
	buf  *bufio.Writer
	stop chan struct{}
	done chan struct{}
}

func newLogBuffer(w io.Writer) *logBuffer {
	l := &logBuffer{
		buf:  bufio.NewWriterSize(w, logBufferSize),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	go l.flushNowAndThen()
	return l
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// Close ends the flushing and writes what is left.
func (l *logBuffer) Close() error {
	close(l.stop)
	<-l.done
	return l.flush()
}

func (l *logBuffer) flushNowAndThen() {
	defer close(l.done)
	tick := time.NewTicker(logFlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.flush()
		case <-l.stop:
			return
		}
	}
}

func (l *logBuffer) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Flush()
}
