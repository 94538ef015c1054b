package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requestlog"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
)

// The largest differences between the requests found in a trace and those that the service logged.
const (
	countOff   = 0.001
	latencyOff = 0.05
)

// measureRequests compares the requests that hone finds in traces of the left-pad service with
// those that a variant of the service logs into the same trace.
func (r *runner) measureRequests(ctx context.Context, w io.Writer) error {
	dir, err := os.MkdirTemp(r.session.CacheDir, "requests-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := program{name: "logged", dir: "logged", get: "/v1/leftpad/?str=test&len=50&chr=*"}
	if err := logRequests(filepath.Join(r.examples, "leftpad", "before"), filepath.Join(dir, p.dir)); err != nil {
		return err
	}
	variant := *r
	variant.examples = dir
	fmt.Fprint(w, "| connections | requests logged | found | p50 logged | found | p99 logged | found | |\n|---|---|---|---|---|---|---|---|\n")
	for _, p.connections = range []int{1, 8, 64} {
		path, err := variant.record(ctx, p, capture.Options{Duration: r.duration, Phases: []string{recording.PhaseTrace}})
		if err != nil {
			return err
		}
		logged, found, err := bothRequests(ctx, r.session, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(w, "| %d | %d | %s | %s | %s | %s | %s | %s |\n", p.connections,
			logged.Count, apart(float64(logged.Count), float64(found.Count), "%.0f"),
			micros(logged.P50), apart(1e6*logged.P50, 1e6*found.P50, "%.1f µs"),
			micros(logged.P99), apart(1e6*logged.P99, 1e6*found.P99, "%.1f µs"), agree(logged, found))
	}
	return nil
}

// logRequests copies the sources of the left-pad service, with a listener that logs.
func logRequests(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	main := filepath.Join(to, "main.go")
	source, err := os.ReadFile(main)
	if err != nil {
		return err
	}
	logging := bytes.Replace(source, []byte("serve(ctx, listener);"), []byte("serve(ctx, Listener{listener});"), 1)
	if bytes.Equal(logging, source) {
		return fmt.Errorf("%s calls no serve(ctx, listener)", filepath.Join(from, "main.go"))
	}
	return errors.Join(
		os.WriteFile(main, logging, 0o644),
		os.WriteFile(filepath.Join(to, "listener.go"), requestlog.Source("main"), 0o644),
	)
}

// bothRequests returns the requests that a service logged, and those found in its trace without the
// logs.
func bothRequests(ctx context.Context, c session.Config, path string) (logged, found *histogram.Summary, err error) {
	src, err := c.Opener().Trace(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	log, fold := requestlog.New(), requests.New(requests.Options{})
	t, err := exectrace.Read(ctx, src, exectrace.Options{}, log, fold)
	if _, err = exectrace.Usable(t, err); err != nil { // hone itself cuts long traces
		return nil, nil, err
	}
	all := fold.Result().All
	if all == nil || log.Served().Count() == 0 {
		return nil, nil, errors.New("no requests in the trace")
	}
	return log.Served().Summary(), all.Served, nil
}

// agree says whether all figures are close enough.
func agree(logged, found *histogram.Summary) string {
	if !within(float64(logged.Count), float64(found.Count), countOff) ||
		!within(logged.P50, found.P50, latencyOff) || !within(logged.P99, found.P99, latencyOff) {
		return "apart"
	}
	return "agree"
}

func within(want, got, share float64) bool { return math.Abs(got-want) <= share*want }

func micros(seconds float64) string { return fmt.Sprintf("%.1f µs", 1e6*seconds) }

// apart formats a figure with its difference from the expected one.
func apart(want, got float64, format string) string {
	return fmt.Sprintf(format+" (%+.2f %%)", got, 100*(got-want)/want)
}
