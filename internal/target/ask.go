package target

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// How long an answer may take when the caller sets no deadline.
const (
	shortAnswer = 30 * time.Second  // numbers
	longAnswer  = 120 * time.Second // a profile of a large heap, plus its length
)

// within gives a context without a deadline one.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// ask sends a request to the probe; what names what the caller wants, for messages.
func (p *Process) ask(ctx context.Context, what string, limit time.Duration, dst io.Writer, words ...string) (string, error) {
	if p.wire == nil {
		why := "the program has no probe"
		if len(p.bin.Notes) > 0 {
			why = p.bin.Notes[len(p.bin.Notes)-1]
		}
		return "", &Missing{What: what, Why: why, How: needProbe}
	}
	ctx, cancel := within(ctx, limit)
	defer cancel()
	note, err := p.wire.ask(ctx, dst, words...)
	if err == nil {
		return note, nil
	}
	var missing *Missing
	if errors.As(err, &missing) {
		missing.What, missing.How = what, remedy(missing.Why)
		return "", missing
	}
	return "", p.ended(what, err)
}

// remedy returns the way around a reason that the probe gives.
func remedy(why string) string {
	switch {
	case strings.Contains(why, "already"):
		return "take it when the other one has ended"
	case strings.Contains(why, "no profile of that name"):
		return "build with a Go version, or a GOEXPERIMENT, that has it"
	}
	return ""
}

// Info asks the program about itself. For a program without probe it returns what the binary
// reveals.
func (p *Process) Info(ctx context.Context) (Info, error) {
	if p.wire == nil {
		info := Info{PID: p.PID(), Go: p.bin.Go, GOOS: runtime.GOOS, GOARCH: runtime.GOARCH}
		if bi, err := buildinfo.ReadFile(p.bin.Path); err == nil {
			info.BuildInfo = bi.String()
		}
		return info, nil
	}
	var b boundedBuffer
	if _, err := p.ask(ctx, "info", shortAnswer, &b, "info"); err != nil {
		return Info{}, err
	}
	return parseInfo(b.String())
}

// Profile takes a named profile.
func (p *Process) Profile(ctx context.Context, name string, debug int, gc bool) ([]byte, error) {
	if !profileName(name) {
		return nil, fmt.Errorf("%q cannot be the name of a profile", name)
	}
	collect := "0"
	if gc {
		collect = "1"
	}
	var b boundedBuffer
	if _, err := p.ask(ctx, name+" profile", longAnswer, &b, "profile", name, strconv.Itoa(debug), collect); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// profileName accepts names that fit into a request as one word.
func profileName(name string) bool {
	if name == "" || len(name) > 200 {
		return false
	}
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// CPUProfile profiles the CPU for d.
func (p *Process) CPUProfile(ctx context.Context, d time.Duration) ([]byte, error) {
	var b boundedBuffer
	if _, err := p.ask(ctx, "CPU profile", d+longAnswer, &b, "cpu", strconv.FormatInt(int64(d), 10)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Trace writes an execution trace.
func (p *Process) Trace(ctx context.Context, w io.Writer, d time.Duration, maxBytes int64) (truncated bool, err error) {
	note, err := p.ask(ctx, "execution trace", d+longAnswer, w, "trace", strconv.FormatInt(int64(d), 10), strconv.FormatInt(maxBytes, 10))
	return note == "truncated", err
}

// SetRates sets the sampling rates of blocking and of mutexes.
func (p *Process) SetRates(ctx context.Context, block, mutex int) (restore func(context.Context) error, notes []string, err error) {
	note, err := p.ask(ctx, "block and mutex rates", shortAnswer, io.Discard, "rates", strconv.Itoa(block), strconv.Itoa(mutex))
	if err != nil {
		return nil, nil, err
	}
	oldBlock, oldMutex, err := twoNumbers(note)
	if err != nil {
		return nil, nil, err
	}
	if block < 0 {
		oldBlock = -1
	}
	if mutex < 0 {
		oldMutex = -1
	}
	return func(ctx context.Context) error {
		_, err := p.ask(ctx, "block and mutex rates", shortAnswer, io.Discard,
			"restore", strconv.FormatInt(oldBlock, 10), strconv.FormatInt(oldMutex, 10))
		if errors.Is(err, ErrEnded) {
			return nil // nothing is left to restore
		}
		return err
	}, nil, nil
}

// SetGC sets the GC percent and the memory limit.
func (p *Process) SetGC(ctx context.Context, percent *int, limit *int64) (oldPercent int, oldLimit int64, err error) {
	words := []string{"gc", "-", "-"}
	if percent != nil {
		words[1] = strconv.Itoa(*percent)
	}
	if limit != nil {
		words[2] = strconv.FormatInt(*limit, 10)
	}
	note, err := p.ask(ctx, "GC settings", shortAnswer, io.Discard, words...)
	if err != nil {
		return 0, 0, err
	}
	old, oldLimit, err := twoNumbers(note)
	return int(old), oldLimit, err
}

// Metrics reads runtime/metrics.
func (p *Process) Metrics(ctx context.Context) (Metrics, error) {
	var b boundedBuffer
	if _, err := p.ask(ctx, "runtime metrics", shortAnswer, &b, "metrics"); err != nil {
		return nil, err
	}
	return parseMetrics(b.String())
}

// Usage returns the process's CPU time and memory so far; after its exit, the totals.
func (p *Process) Usage(ctx context.Context) (Usage, error) {
	select {
	case <-p.done:
		return p.exit.Usage, nil
	default:
	}
	if p.wire == nil {
		return usageOf(p.PID())
	}
	note, err := p.ask(ctx, "CPU time", shortAnswer, io.Discard, "usage")
	if err != nil {
		select {
		case <-p.done:
			return p.exit.Usage, nil
		default:
			return Usage{}, err
		}
	}
	cpu, maxRSS, err := twoNumbers(note)
	u := Usage{CPUSeconds: float64(cpu) / 1e9, MaxRSS: maxRSS, RSSBytes: residentSize(p.PID())}
	if seen, err := usageOf(p.PID()); err == nil {
		u.SystemSeconds, u.PageFaults, u.ChildCPUSeconds = seen.SystemSeconds, seen.PageFaults, seen.ChildCPUSeconds
		u.MaxRSS = cmp.Or(seen.MaxRSS, u.MaxRSS) // the program's own figure includes hone's memory, which it had until execve
	}
	return u, err
}
