package source

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// Trace is an execution trace that can be read.
type Trace struct {
	Name string // as the user typed it
	io.ReadCloser
	// Recording is the manifest of the recording that the trace is part of, else nil.
	Recording *recording.Manifest
	Size      int64 // bytes as stored; 0 when unknown
	// Again says that it can be opened again, with the same content.
	Again bool
}

// Trace opens SOURCE for its execution trace: a file (which may be compressed) or "-" for stdin, a
// recording, or the URL of a trace endpoint, which traces for o.Seconds (0 = 5). A URL without a
// path means the default path. "" is the last recording.
func (o Opener) Trace(ctx context.Context, arg string) (*Trace, error) {
	if arg == "" {
		last, err := o.Shelf().Last()
		if err != nil {
			return nil, err
		}
		arg = o.Shelf().ShortName(last)
	}
	if arg == "-" {
		return &Trace{Name: "standard input", ReadCloser: io.NopCloser(o.Stdin)}, nil
	}
	if u, ok := urlOf(arg); ok {
		return o.fetchTrace(ctx, u)
	}
	if file, part, ok := splitRecording(arg); ok {
		if part != "" && part != "trace" && part != recording.PartTrace {
			return nil, fmt.Errorf("%s: %s is not an execution trace; leave it out, or write %s:trace", arg, part, file)
		}
		return o.traceOfRecording(arg, file)
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
	return &Trace{Name: arg, ReadCloser: f, Size: st.Size(), Again: st.Mode().IsRegular()}, nil
}

func (o Opener) traceOfRecording(name, file string) (*Trace, error) {
	rec, err := o.Recording(file)
	if err != nil {
		return nil, err
	}
	r, err := rec.Part(recording.PartTrace)
	if err != nil {
		rec.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Trace{Name: name, ReadCloser: &partOf{r, rec}, Recording: &rec.Manifest, Again: true}
	for _, p := range rec.Manifest.Parts {
		if p.Name == recording.PartTrace {
			s.Size = p.Bytes
		}
	}
	return s, nil
}

// partOf closes the recording together with its part.
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

// fetchTrace asks a service to trace itself.
func (o Opener) fetchTrace(ctx context.Context, raw string) (*Trace, error) {
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
	o.Say("fetch", fmt.Sprintf("tracing %s for %d s", u.Host, seconds))
	f := o.newFetcher(u)
	r, err := f.open(ctx, u, time.Duration(seconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return &Trace{Name: raw, ReadCloser: &connected{r, f}}, nil
}

// connected closes the connection together with the response.
type connected struct {
	io.ReadCloser
	f fetcher
}

func (c *connected) Close() error {
	defer c.f.client.CloseIdleConnections()
	return c.ReadCloser.Close()
}
