package session

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/recording"
)

// TraceSource is an execution trace to be read.
type TraceSource struct {
	Name string // as the user typed it
	io.ReadCloser
	// Recording is the manifest of the recording that the trace is part of, else nil.
	Recording *recording.Manifest
	Size      int64 // bytes as stored; 0 when not known
	// Again says that it can be opened again, and is the same then.
	Again bool
}

// OpenTrace opens SOURCE for its execution trace: a file (gzip'd or not) or "-" for
// stdin, a recording, or a URL of a trace endpoint, which traces for o.Seconds (0 = 5). A
// URL without a path means the stock place. "" is the last recording.
func OpenTrace(ctx context.Context, c Config, arg string, stdin io.Reader, o SourceOptions) (*TraceSource, error) {
	if arg == "" {
		last, err := Last(c)
		if err != nil {
			return nil, err
		}
		arg = shortName(c, last)
	}
	if arg == "-" {
		return &TraceSource{Name: "standard input", ReadCloser: io.NopCloser(stdin)}, nil
	}
	if u, ok := urlOf(arg); ok {
		return fetchTrace(ctx, c, u, o)
	}
	if file, part, ok := splitRecording(arg); ok {
		if part != "" && part != "trace" && part != recording.PartTrace {
			return nil, fmt.Errorf("%s: %s is no execution trace; leave it out, or say %s:trace", arg, part, file)
		}
		return traceOfRecording(c, arg, file)
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = fmt.Errorf("%s is a directory; name the trace in it", arg)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &TraceSource{Name: arg, ReadCloser: f, Size: st.Size(), Again: st.Mode().IsRegular()}, nil
}

func traceOfRecording(c Config, name, file string) (*TraceSource, error) {
	rec, err := recording.Open(Find(c, file))
	if err != nil {
		return nil, err
	}
	r, err := rec.Part(recording.PartTrace)
	if err != nil {
		rec.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &TraceSource{Name: name, ReadCloser: &partOf{r, rec}, Recording: &rec.Manifest, Again: true}
	for _, p := range rec.Manifest.Parts {
		if p.Name == recording.PartTrace {
			s.Size = p.Bytes
		}
	}
	return s, nil
}

// readTrace runs all analyses over a recording's trace. A recording without one, or with one
// that cannot be read, is diagnosed without: the notes say so.
func readTrace(ctx context.Context, c Config, rec *recording.Recording) (*analysis.Results, []string, error) {
	if !rec.Has(recording.PartTrace) {
		return nil, nil, nil
	}
	r, err := rec.Part(recording.PartTrace)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	set, _, err := analyse(ctx, c, r, requests.Options{}) // hone cuts long traces itself
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("the execution trace cannot be read (%v): waits are told by profiles alone", err)}, nil
	}
	res := set.Results()
	var notes []string
	for _, m := range res.Remarks {
		if m.Topic == "p99" {
			notes = append(notes, "slow requests, while they were traced: "+m.Text+" hone trace requests "+shortName(c, rec.Path)+" shows more")
		}
	}
	return res, notes, nil
}

// partOf closes the recording with its part.
type partOf struct {
	io.ReadCloser
	rec *recording.Recording
}

func (p *partOf) Close() error {
	err := p.ReadCloser.Close()
	if e := p.rec.Close(); err == nil {
		err = e
	}
	return err
}

// fetchTrace has a service trace itself.
func fetchTrace(ctx context.Context, c Config, raw string, o SourceOptions) (*TraceSource, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL: %w", raw, err)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/debug/pprof/trace"
	}
	seconds := o.Seconds
	q := u.Query()
	if given, err := strconv.Atoi(q.Get("seconds")); err == nil && given > 0 {
		seconds = given
	}
	if seconds <= 0 {
		seconds = 5
	}
	q.Set("seconds", strconv.Itoa(seconds))
	u.RawQuery = q.Encode()
	c.say("fetch", fmt.Sprintf("tracing %s for %d s", u.Host, seconds))
	f := newFetcher(u, o)
	r, err := f.open(ctx, u, time.Duration(seconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return &TraceSource{Name: raw, ReadCloser: &connected{r, f}}, nil
}

// connected drops the connection with the answer.
type connected struct {
	io.ReadCloser
	f fetcher
}

func (c *connected) Close() error {
	defer c.f.client.CloseIdleConnections()
	return c.ReadCloser.Close()
}
