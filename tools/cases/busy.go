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

// startLoops starts n processes that are to keep a core busy each, by a command that ends when its
// standard input does: also when this process is killed. stop ends them and waits for that.
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

// spin keeps one core busy until in ends or the limit is over.
func spin(in io.Reader, limit time.Duration) {
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, in) // nothing is sent: it waits for the end
		over.Store(true)
	}()
	time.AfterFunc(limit, func() { over.Store(true) })
	for !over.Load() {
	}
}
