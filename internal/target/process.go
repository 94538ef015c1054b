package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Collect is what the probe collects from its start to the program's exit, for programs that run
// and exit. Such a program cannot take a CPU profile or a trace of its own at the same time.
type Collect struct {
	CPU        bool
	Allocs     bool // heap profile after a GC at start and at exit; the goroutines that are left at exit
	Contention bool // block and mutex, rates raised from the start to CollectBlockRate and CollectMutexFraction
	Trace      bool
	TraceBytes int64 // cap; 0 none
	Counters   bool  // of executions, of a program built with BuildSpec.Counted: parts PartCountersMeta and PartCounters
	Leaks      bool  // goroutines that nothing can wake at the end, of a program built with BuildSpec.Leaks: parts PartLeaks and PartDump
	Inputs     bool  // of functions, of a program built with BuildSpec.Inputs: part PartInputs
}

// Names of the parts of Collect.Leaks: the profile, and all goroutines as text, which says where
// each was created.
const (
	PartLeaks = "goroutineleak"
	PartDump  = "goroutine.txt"
)

// The sampling rates under Collect.Contention: one sample per that many ns blocked, and one in that
// many contended mutexes.
const (
	CollectBlockRate     = 10_000
	CollectMutexFraction = 10
)

// words returns the request in the probe's language.
func (c Collect) words() string {
	var s strings.Builder
	if c.CPU {
		s.WriteString(" cpu")
	}
	if c.Allocs {
		s.WriteString(" allocs")
	}
	if c.Contention {
		fmt.Fprintf(&s, " contention=%d,%d", CollectBlockRate, CollectMutexFraction)
	}
	if c.Trace {
		fmt.Fprintf(&s, " trace=%d", c.TraceBytes)
	}
	if c.Counters {
		s.WriteString(" counters")
	}
	if c.Inputs {
		s.WriteString(" inputs")
	}
	if c.Leaks {
		s.WriteString(" leaks")
	}
	return s.String()
}

// names returns the parts that it yields.
func (c Collect) names() []string {
	var names []string
	if c.CPU {
		names = append(names, "cpu")
	}
	if c.Allocs {
		names = append(names, "heap.start", "heap.end", "goroutine")
	}
	if c.Contention {
		names = append(names, "block", "mutex")
	}
	if c.Trace {
		names = append(names, "trace")
	}
	if c.Counters {
		names = append(names, PartCountersMeta, PartCounters)
	}
	if c.Inputs {
		names = append(names, PartInputs)
	}
	if c.Leaks {
		names = append(names, PartLeaks, PartDump)
	}
	return names
}

// RunSpec describes how to run a built target.
type RunSpec struct {
	Args    []string
	Dir     string    // working directory; "" = the caller's
	Env     []string  // added to the caller's environment
	Stdin   string    // file for standard input; "" = empty
	Stdout  string    // file that takes (the first OutputCap bytes of) the output; "" = dropped
	Stderr  string    // the same; the last lines are kept for Exit in any case
	Echo    io.Writer // receives both as they arrive, a piece at a time; nil = none
	Collect Collect
	Grace   time.Duration // from Stop's signal to its kill; 0 = StopGrace
}

// StopGrace is how long a program may take to exit when it is asked to.
const StopGrace = 3 * time.Second

// probeVariable carries hone's request to the probe, which unsets it at once.
const probeVariable = "HONE_PROBE"

// Process is a started target.
type Process struct {
	bin   *Binary
	spec  RunSpec
	cmd   *exec.Cmd
	group group // the process and its children, as the operating system groups them
	wire  *wire // nil without probe
	began time.Time

	stdout, stderr *output

	stopOnce sync.Once
	stopped  atomic.Bool
	done     chan struct{}
	exit     Exit // after done
}

var _ Program = (*Process)(nil)

// Start starts the binary. It does not wait for readiness. The program leads a process group of its
// own and is killed when hone exits; ending ctx stops it as Stop does.
func (b *Binary) Start(ctx context.Context, s RunSpec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", b.ImportPath, err)
	}
	p := &Process{bin: b, spec: s, done: make(chan struct{})}
	if p.spec.Grace == 0 {
		p.spec.Grace = StopGrace
	}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", b.ImportPath, err)
	}
	go func() {
		select {
		case <-ctx.Done():
			p.Stop(context.Background())
		case <-p.done:
		}
	}()
	return p, nil
}

func (p *Process) start() (err error) {
	p.cmd = exec.Command(p.bin.Path, p.spec.Args...)
	p.cmd.Dir = p.spec.Dir
	p.cmd.Env = append(p.cmd.Environ(), p.spec.Env...)
	var opened []interface{ Close() error }
	defer func() {
		if err != nil {
			for _, c := range opened {
				c.Close()
			}
		}
	}()
	echo := newEcho(p.spec.Echo)
	if p.stdout, err = openOutput(p.spec.Stdout, "", false, echo); err != nil {
		return err
	}
	opened = append(opened, p.stdout)
	if p.stderr, err = openOutput(p.spec.Stderr, filepath.Dir(p.bin.Path), true, echo); err != nil {
		return err
	}
	opened = append(opened, p.stderr)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout.file, p.stderr.file
	if p.spec.Stdin != "" {
		in, err := os.Open(p.spec.Stdin)
		if err != nil {
			return err
		}
		defer in.Close()
		p.cmd.Stdin = in
	}
	var l *line
	if p.bin.Probe {
		if l, err = newLine(p.cmd); err != nil {
			return fmt.Errorf("make the probe's descriptor: %w", err)
		}
		defer l.closeTheirs()
		opened = append(opened, l)
		p.cmd.Env = append(p.cmd.Env, probeVariable+"="+l.name+p.spec.Collect.words())
	}
	if len(p.bin.Counted) > 0 { // without it the program prints a warning at its exit
		p.cmd.Env = append(p.cmd.Env, "GOCOVERDIR="+filepath.Dir(p.bin.Path))
	}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return err
	}
	if l != nil {
		p.wire = newWire(l.in, l.out)
	}
	go p.stdout.watch(p.done)
	go p.stderr.watch(p.done)
	go p.wait()
	return nil
}

// run starts the process and waits for it on the same thread: Linux sends the parent's death signal
// when the thread that started the process exits.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	ownGroup(p.cmd)
	dieWithHone(p.cmd)
	p.began = time.Now()
	err := p.cmd.Start()
	if err == nil {
		p.group.adopt(p.cmd.Process)
	}
	started <- err
	if err == nil {
		<-p.done
	}
}

// drainGrace bounds the wait for what a program sent before it exited. It is used up only where
// something else still has the descriptor open, or where hone gets no processor for so long.
const drainGrace = 10 * time.Second

// wait waits for the process to exit, kills its children, and reads its last output.
func (p *Process) wait() {
	p.cmd.Wait() // the state contains its error
	wall := time.Since(p.began)
	p.group.kill(p.cmd.Process)
	e := exitOf(p.cmd.ProcessState)
	e.Wall = wall
	e.Stopped = p.stopped.Load()
	if p.wire != nil {
		p.wire.drain(drainGrace)
		p.wire.end(&e)
	}
	e.DroppedStdout = p.stdout.finish()
	e.DroppedStderr = p.stderr.finish()
	e.Stderr = lastLines(p.stderr.tail)
	p.exit = e
	close(p.done)
}

// end adds what the probe reported at the exit to the kernel's figures, which include the children.
func (w *wire) end(e *Exit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.ProbeCPUSeconds, e.ProbeWall, e.Heap = w.endCPU, w.endWall, w.heap
	u, cpu, size := w.usage, e.Usage.CPUSeconds, e.Usage.MaxRSS
	e.Usage = u
	e.Usage.CPUSeconds = max(0, cpu-u.ChildCPUSeconds)
	if u.MaxRSS == 0 {
		e.Usage.MaxRSS = size
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has exited and all its output is read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how it exited; before Done it is the zero Exit.
func (p *Process) Exit() Exit {
	select {
	case <-p.done:
		return p.exit
	default:
		return Exit{}
	}
}

// killWait bounds the wait for a killed process.
const killWait = 5 * time.Second

// Stop stops the program and its children: it takes what was collected so far, asks the program to
// exit (SIGTERM, on Windows Ctrl-Break), and kills it after the grace. It returns when the process
// is gone; when ctx ends before, it kills at once. Calling it again, or after the exit, does
// nothing.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() { go p.end() })
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	p.group.kill(p.cmd.Process)
	select {
	case <-p.done:
		return nil
	case <-time.After(killWait):
		return fmt.Errorf("stop %s: process %d was killed and does not exit", p.bin.ImportPath, p.PID())
	}
}

// end makes the program exit.
func (p *Process) end() {
	select {
	case <-p.done:
		return
	default:
	}
	p.stopped.Store(true)
	if p.wire != nil && len(p.spec.Collect.names()) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), collectGrace)
		p.wire.ask(ctx, &boundedBuffer{}, "finish") // what it does not deliver is missing in Parts
		cancel()
	}
	p.group.terminate(p.cmd.Process)
	select {
	case <-p.done:
	case <-time.After(p.spec.Grace):
		p.group.kill(p.cmd.Process)
	}
}

// collectGrace is how long a program that is being stopped may take to deliver what it collected.
const collectGrace = 10 * time.Second

// Parts returns what Collect asked for, by name ("cpu", "allocs" (as its two ends: "heap.start",
// "heap.end", "goroutine"), "block", "mutex", "trace"), after Done. missing gives the reason for
// each part that is not there.
func (p *Process) Parts() (parts map[string][]byte, missing map[string]string) {
	parts, missing = map[string][]byte{}, map[string]string{}
	select {
	case <-p.done:
	default:
		for _, name := range p.spec.Collect.names() {
			missing[name] = "the program has not ended yet"
		}
		return parts, missing
	}
	for _, name := range p.spec.Collect.names() {
		if p.wire == nil {
			missing[name] = "the program has no probe"
			continue
		}
		switch part := p.wire.part(name); {
		case part.missing != "":
			missing[name] = part.missing
		case !part.whole:
			missing[name] = p.lost()
		default:
			parts[name] = part.data
		}
	}
	return parts, missing
}

// Truncated reports whether a part ("trace") was cut at its size limit.
func (p *Process) Truncated(part string) bool {
	return p.wire != nil && p.wire.part(part).cut
}

// part is what has arrived of a part.
func (w *wire) part(name string) part {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.parts[name]; p != nil {
		return *p
	}
	return part{}
}

// lost returns why a program that has exited did not deliver what it collected.
func (p *Process) lost() string {
	const only = "the program sends it when main returns, and at os.Exit and log.Fatal"
	w := p.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.greeted:
	default:
		return fmt.Sprintf("the program exited (%s) before package main was initialised", p.exit.how())
	}
	if w.ending {
		return fmt.Sprintf("the program exited (%s) before it had sent everything", p.exit.how())
	}
	return fmt.Sprintf("the program exited (%s) before delivering it: %s", p.exit.how(), only)
}

// ended adds the exit of the process to the error of a request.
func (p *Process) ended(what string, err error) error {
	if !errors.Is(err, ErrEnded) {
		return fmt.Errorf("%s: %w", what, err)
	}
	select {
	case <-p.done:
		return fmt.Errorf("%s: %w (%s)", what, ErrEnded, p.exit.how())
	case <-time.After(3 * time.Second):
		return fmt.Errorf("%s: the probe no longer listens, although process %d is running (did it exec another program, or close its descriptors?)", what, p.PID())
	}
}
