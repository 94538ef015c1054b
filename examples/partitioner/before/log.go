package main

import (
	"fmt"
	"io"
	"sync"
)

// Level says how much is logged.
type Level int

const (
	LevelDebug Level = iota
	LevelInfo
)

// Logger writes lines of keys and values. It may be used by many goroutines.
type Logger struct {
	level Level
	mu    sync.Mutex
	out   io.Writer
}

// NewLogger returns a logger that drops what is below the level.
func NewLogger(out io.Writer, level Level) *Logger {
	return &Logger{out: out, level: level}
}

// Debugging reports whether debug lines are written.
func (l *Logger) Debugging() bool { return l.level <= LevelDebug }

// Debug2 writes a message with two values, if debug lines are written.
func Debug2(l *Logger, key string, val any, key2 string, val2 any, msg string) {
	if !l.Debugging() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A log that cannot be written has nowhere to complain.
	_, _ = fmt.Fprintf(l.out, "level=debug msg=%q %s=%v %s=%v\n", msg, key, val, key2, val2)
}
