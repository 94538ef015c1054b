package target

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// remoteAnswer is how long a service may take beyond the length of the profile, when the caller
// sets no deadline.
const remoteAnswer = 60 * time.Second

// Info returns what is known from outside: for a service on this machine its process id and what
// its executable reveals.
func (r *Remote) Info(context.Context) (Info, error) {
	info := Info{PID: r.pid, Listening: true}
	if r.pid == 0 {
		return info, nil
	}
	if bi, err := buildinfo.ReadFile(executable(r.pid)); err == nil {
		info.Go, info.BuildInfo = bi.GoVersion, bi.String()
		for _, s := range bi.Settings {
			switch s.Key {
			case "GOOS":
				info.GOOS = s.Value
			case "GOARCH":
				info.GOARCH = s.Value
			}
		}
	}
	return info, nil
}

// Profile takes a named profile.
func (r *Remote) Profile(ctx context.Context, name string, debug int, gc bool) ([]byte, error) {
	if !profileName(name) {
		return nil, fmt.Errorf("%q cannot be the name of a profile", name)
	}
	ctx, cancel := within(ctx, remoteAnswer)
	defer cancel()
	query := url.Values{"debug": {strconv.Itoa(debug)}}
	if gc && name == "heap" {
		query.Set("gc", "1")
	}
	what := name + " profile"
	if debug == 0 {
		return r.profile(ctx, what, name, query)
	}
	a, err := r.get(ctx, name, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer a.Close()
	if a.status != http.StatusOK {
		return nil, a.refusal(what)
	}
	return a.read(maxAnswer)
}

// CPUProfile profiles the CPU for d, rounded up to whole seconds, which is all
// that the endpoint takes.
func (r *Remote) CPUProfile(ctx context.Context, d time.Duration) ([]byte, error) {
	ctx, cancel := within(ctx, d+remoteAnswer)
	defer cancel()
	query := url.Values{"seconds": {wholeSeconds(d)}}
	b, err := r.profile(ctx, "CPU profile", "profile", query)
	if !isBusy(err) {
		return b, err
	}
	// It may be one that hone abandoned (a Trace that ended early): the service takes a moment to
	// end it.
	select {
	case <-time.After(leftProfile):
	case <-ctx.Done():
		return nil, err
	}
	return r.profile(ctx, "CPU profile", "profile", query)
}

// leftProfile is how long a service may take to end a profile whose client is gone.
const leftProfile = 500 * time.Millisecond

func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}

// Trace writes an execution trace. A CPU profile that runs beside it puts CPU samples into it;
// where none is available, the trace has no samples. A trace that is cut at maxBytes may end within
// a batch of events.
func (r *Remote) Trace(ctx context.Context, w io.Writer, d time.Duration, maxBytes int64) (truncated bool, err error) {
	ctx, cancel := within(ctx, d+remoteAnswer)
	defer cancel()
	beside := make(chan struct{})
	go func() {
		defer close(beside)
		if a, err := r.get(ctx, "profile", url.Values{"seconds": {wholeSeconds(d)}}); err == nil {
			io.Copy(io.Discard, a)
			a.Close()
		}
	}()
	defer func() { <-beside }()
	defer cancel() // the service stops a profile whose client is gone
	a, err := r.get(ctx, "trace", url.Values{"seconds": {strconv.FormatFloat(d.Seconds(), 'f', -1, 64)}})
	if err != nil {
		return false, fmt.Errorf("execution trace: %w", err)
	}
	defer a.Close()
	if a.status != http.StatusOK {
		return false, a.refusal("execution trace")
	}
	return a.copyTrace(w, maxBytes)
}

// traceMagic starts every execution trace: "go 1.22 trace\x00\x00\x00".
const traceMagic = "go 1."

func (a *answer) copyTrace(w io.Writer, maxBytes int64) (truncated bool, err error) {
	var head [len(traceMagic)]byte
	n, err := io.ReadFull(a, head[:])
	if err != nil || string(head[:]) != traceMagic {
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("not an execution trace")
		}
		return false, fmt.Errorf("%s answers %s %s, %w", a.url, a.words, a.kind, err)
	}
	if _, err := w.Write(head[:n]); err != nil {
		return false, err
	}
	var body io.Reader = a
	if maxBytes > 0 {
		body = io.LimitReader(a, max(0, maxBytes-int64(n)))
	}
	copied, err := io.Copy(w, body)
	if err != nil {
		return false, fmt.Errorf("%s: the trace ends after %d bytes: %w", a.url, copied+int64(n), err)
	}
	if maxBytes > 0 && copied+int64(n) >= maxBytes {
		var one [1]byte
		more, _ := io.ReadFull(a, one[:])
		return more > 0, nil
	}
	return false, nil
}

// SetRates is not available: the stock endpoints only read profiles.
func (r *Remote) SetRates(context.Context, int, int) (func(context.Context) error, []string, error) {
	return nil, nil, &Missing{
		What: "change of the block and mutex rates",
		Why:  "the endpoints of net/http/pprof have none",
		How:  "call runtime.SetBlockProfileRate and runtime.SetMutexProfileFraction in the service, or let hone start it",
	}
}

// SetGC is not available: the stock endpoints only read profiles.
func (r *Remote) SetGC(context.Context, *int, *int64) (int, int64, error) {
	return 0, 0, &Missing{
		What: "GOGC and GOMEMLIMIT of the running service",
		Why:  "the endpoints of net/http/pprof have none",
		How:  "set them in the service's environment, or let hone start it",
	}
}

// Metrics is not available: the stock endpoints have none.
func (r *Remote) Metrics(context.Context) (Metrics, error) {
	return nil, &Missing{
		What: "runtime metrics",
		Why:  "the endpoints of net/http/pprof have none",
		How:  "let hone start the service",
	}
}

// Usage returns that of the service's process when it is on this machine.
func (r *Remote) Usage(context.Context) (Usage, error) {
	if r.noPID != nil {
		return Usage{}, r.noPID
	}
	if startTime(r.pid) != r.started {
		return Usage{}, fmt.Errorf("CPU time: %w", ErrEnded)
	}
	return usageOf(r.pid)
}
