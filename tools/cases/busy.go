package main

import (
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"time"
)

// spinLimit ends a busy loop that nobody stopped.
const spinLimit = time.Hour

// startLoops starts n processes that keep one core busy each. Each exits when its standard input is
// closed, also if this process is killed. stop closes it and waits for them.
func startLoops(n int, command func() *exec.Cmd) (stop func(), err error) {
	type loop struct {
		cmd   *exec.Cmd
		input io.Closer
	}
	var loops []loop
	stop = func() {
		for _, l := range loops {
			l.input.Close()
			l.cmd.Process.Kill()
			l.cmd.Wait()
		}
		loops = nil
	}
	for range n {
		cmd := command()
		input, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			stop()
			return nil, fmt.Errorf("start a busy loop: %w", err)
		}
		loops = append(loops, loop{cmd, input})
	}
	return stop, nil
}

// spin keeps one core busy until in is closed or the limit is over.
func spin(in io.Reader, limit time.Duration) {
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, in) // nothing is sent: Copy returns when in is closed
		over.Store(true)
	}()
	time.AfterFunc(limit, func() { over.Store(true) })
	for !over.Load() {
	}
}
