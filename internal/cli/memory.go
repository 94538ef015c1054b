package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
)

// memoryFlag is the number of bytes that hone may use; by default, half of the machine's memory.
type memoryFlag struct {
	bytes int64
	set   bool
}

func (m *memoryFlag) String() string {
	if m == nil || !m.set {
		return ""
	}
	return fmt.Sprint(m.bytes)
}

func (m *memoryFlag) Set(text string) (err error) {
	m.set = true
	m.bytes, err = parseSize(text)
	return err
}

const (
	memoryLook  = 50 * time.Millisecond // how often the memory in use is compared with the limit
	memoryGrace = 2 * time.Second       // time for a command to stop by itself after it exceeded the limit
)

// errMemory ends a command that exceeded its memory limit.
var errMemory = errors.New("out of memory")

// bound cancels the command, or ends the process, when hone exceeds its memory limit; close to the
// limit, the garbage collector works harder. The returned function ends the supervision; it returns
// an error if the command was ended.
func (m *memoryFlag) bound(ctx context.Context, env Env) (context.Context, func() error) {
	if m.set && m.bytes == 0 {
		return ctx, func() error { return nil }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		m.watch(cancel, stop, env)
	}()
	return ctx, func() error {
		close(stop)
		<-stopped
		cause := context.Cause(ctx)
		cancel(nil)
		if errors.Is(cause, errMemory) {
			return cause
		}
		return nil
	}
}

// watch compares the memory in use with the limit until stop is closed.
func (m *memoryFlag) watch(cancel context.CancelCauseFunc, stop <-chan struct{}, env Env) {
	tick := time.NewTicker(memoryLook)
	defer tick.Stop()
	wait := func() bool {
		select {
		case <-stop:
			return false
		case <-tick.C:
			return true
		}
	}
	if !wait() { // most commands finish before this, and do not pay for reading the machine's memory
		return
	}
	limit, what := m.bytes, "-max_memory"
	if !m.set {
		limit, what = memoryOf(recording.ThisMachine())/2, "half of the machine's memory"
	}
	if limit == 0 {
		return
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit - limit/8))
	for taken() <= limit {
		if !wait() {
			return
		}
	}
	err := fmt.Errorf("%w: hone used more than %s, which is %s; raise the limit with -max_memory", errMemory, units.Bytes(float64(limit)), what)
	cancel(err)
	select {
	case <-stop:
	case <-time.After(memoryGrace): // the command does not react to its context
		env.say("hone: %v", err)
		os.Exit(exitFailed)
	}
}

// memoryOf returns the memory of a machine that processes of its cgroup can use, in bytes; 0 if it
// is unknown.
func memoryOf(m recording.Machine) int64 {
	bytes, _ := (&recording.Manifest{Machine: m}).Memory()
	return int64(bytes)
}

// taken returns the memory that the process has from the system, in bytes.
func taken() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) - int64(s[1].Value.Uint64())
}
