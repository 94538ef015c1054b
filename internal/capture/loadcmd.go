package capture

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hone-go/hone/internal/target"
)

// commandGrace is how long the user's command may take to exit when asked to.
const commandGrace = 2 * time.Second

// shortRun is a run so short that the command cannot have driven anything.
const shortRun = time.Second

// loadCommand is a load by another tool. It runs as long as a phase does, and is restarted when it
// exits before.
type loadCommand struct {
	run    *recorder
	line   string
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	began time.Time
	cpu   float64 // seconds, of the processes that exited
	err   error   // why it no longer drives anything
}

// shell is the program that reads a command line, with the flag before it.
func shell() (path, flag string, err error) {
	if runtime.GOOS == "windows" {
		path, err = exec.LookPath("cmd")
		return path, "/C", err
	}
	return "/bin/sh", "-c", nil
}

// startCommand starts the user's load command and gives it a moment to get going; nil without one.
func (r *recorder) startCommand(ctx context.Context) (*loadCommand, error) {
	if r.o.LoadCommand == "" {
		return nil, nil
	}
	lctx, cancel := context.WithCancel(ctx)
	c := &loadCommand{run: r, line: r.o.LoadCommand, cancel: cancel, done: make(chan struct{}), began: time.Now()}
	go c.repeat(lctx)
	select {
	case <-c.done:
	case <-ctx.Done():
	case <-time.After(r.world.tick):
	}
	if err := c.failure(); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// repeat runs the command until ctx ends or a run fails.
func (c *loadCommand) repeat(ctx context.Context) {
	defer close(c.done)
	for ctx.Err() == nil {
		e, wall, err := c.once(ctx)
		c.mu.Lock()
		c.cpu += e.Usage.CPUSeconds
		switch {
		case ctx.Err() != nil:
		case err != nil:
			c.err = err
		case e.Failure() != "" && wall < shortRun:
			c.err = fmt.Errorf("-load_cmd %s: %s", c.line, e.Failure())
		case wall < shortRun:
			c.err = fmt.Errorf("-load_cmd %s: it ended after %s; it must drive the service for longer, it is started again when it ends", c.line, wall.Round(time.Millisecond))
		}
		failed := c.err != nil
		c.mu.Unlock()
		if failed {
			return
		}
	}
}

// once runs the command once.
func (c *loadCommand) once(ctx context.Context) (target.Exit, time.Duration, error) {
	path, flag, err := shell()
	if err != nil {
		return target.Exit{}, 0, err
	}
	bin := &target.Binary{Path: path, ImportPath: "-load_cmd " + c.line}
	out := func(name string) string { return filepath.Join(c.run.tmp, "load-"+name) }
	began := time.Now()
	p, err := bin.Start(ctx, target.RunSpec{
		Args: []string{flag, c.line}, Dir: c.run.o.RunDir, Env: c.run.o.Env, Stdout: out("stdout"), Stderr: out("stderr"),
		Echo: c.run.o.Output, Grace: commandGrace,
	})
	if err != nil {
		return target.Exit{}, 0, err
	}
	<-p.Done()
	return p.Exit(), time.Since(began), nil
}

// failure returns why the command no longer drives anything; nil while it does.
func (c *loadCommand) failure() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// stop ends the command and its children, and returns how many processors it used on average.
func (c *loadCommand) stop() (cores float64) {
	if c == nil {
		return 0
	}
	c.cancel()
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := time.Since(c.began).Seconds(); s > 0 {
		cores = c.cpu / s
	}
	return cores
}

// driven runs a phase's work while the user's load command runs, and charges the command's CPU time
// to what was seen.
func (s *service) driven(ctx context.Context, phase func() (stretch, error)) (stretch, error) {
	c, err := s.startCommand(ctx)
	if err != nil {
		return stretch{}, &endError{what: fmt.Sprintf("phase %s", s.phase), err: err}
	}
	seen, err := phase()
	failed := c.failure()
	seen.phase.GeneratorCPUSeconds += c.stop() * seen.phase.Seconds
	if err == nil && failed != nil {
		err = &endError{what: fmt.Sprintf("phase %s", s.phase), err: failed}
	}
	return seen, err
}

// describeCommand shortens a command line for a sentence.
func describeCommand(line string) string {
	const most = 60
	if line = strings.Join(strings.Fields(line), " "); len(line) > most {
		return line[:most] + "…"
	}
	return line
}
