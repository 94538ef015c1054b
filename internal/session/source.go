package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// Source is a profile and what is known of the code behind it.
type Source struct {
	Name    string // as the user typed it
	Profile *profile.Profile
	Code    *gocode.Index

	// Of which recording the profile is a part; nil and "" for other sources.
	Recording *recording.Manifest
	Part      string // as the recording names it: cpu.pprof
}

// SourceOptions says how to read a source.
type SourceOptions struct {
	Seconds int // length of a CPU profile taken from a URL; 0 = 30
	// SampleIndex chooses the part of a recording when the user named none:
	// alloc_space means allocs, inuse_space heap, …; "" means cpu.
	SampleIndex string
}

// OpenSource reads SOURCE: a pprof file, "-" for stdin, a recording
// ("rec.hone", "rec.hone:allocs"), or a URL of a pprof endpoint. "" is the last recording.
func OpenSource(ctx context.Context, c Config, arg string, stdin io.Reader, o SourceOptions) (*Source, error) {
	name := arg
	if arg == "" {
		last, err := Last(c)
		if err != nil {
			return nil, err
		}
		arg = last
	}
	switch {
	case arg == "-":
		p, err := profile.Decode(stdin, 0)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return withCode(ctx, c, "standard input", p)
	case strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://"):
		p, err := fetchProfile(ctx, c, arg, o)
		if err != nil {
			return nil, err
		}
		return withCode(ctx, c, arg, p)
	}
	file, part, isRecording := splitRecording(arg)
	if isRecording {
		return openRecordingPart(ctx, c, name, file, part, o)
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Decode(f, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	return withCode(ctx, c, arg, p)
}

// OpenSources reads several sources and sums them, one at a time, so that only the sum
// and one of them are in memory. The code is that of the first.
func OpenSources(ctx context.Context, c Config, args []string, stdin io.Reader, o SourceOptions) (*Source, error) {
	first, err := OpenSource(ctx, c, args[0], stdin, o)
	if err != nil || len(args) == 1 {
		return first, err
	}
	sum := profile.NewMerger()
	if err := sum.Add(first.Profile); err != nil {
		return nil, fmt.Errorf("%s: %w", first.Name, err)
	}
	for _, arg := range args[1:] {
		s, err := OpenSource(ctx, c, arg, stdin, o)
		if err != nil {
			return nil, err
		}
		if err := sum.Add(s.Profile); err != nil {
			return nil, fmt.Errorf("add %s to %s: %w", s.Name, first.Name, err)
		}
	}
	first.Profile, err = sum.Profile()
	first.Name = fmt.Sprintf("%s and %d more", first.Name, len(args)-1)
	return first, err
}

func withCode(ctx context.Context, c Config, name string, p *profile.Profile) (*Source, error) {
	code, err := gocode.Open(ctx, gocode.Config{CacheDir: c.CacheDir})
	if err != nil {
		return nil, err
	}
	return &Source{Name: name, Profile: p, Code: code}, nil
}

// splitRecording takes "rec.hone:allocs" apart.
func splitRecording(arg string) (file, part string, ok bool) {
	if strings.HasSuffix(arg, ".hone") {
		return arg, "", true
	}
	i := strings.LastIndex(arg, ".hone:")
	if i < 0 {
		return "", "", false
	}
	return arg[:i+len(".hone")], arg[i+len(".hone:"):], true
}

func openRecordingPart(ctx context.Context, c Config, name, file, part string, o SourceOptions) (*Source, error) {
	rec, err := recording.Open(Find(c, file))
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	if part == "" {
		part = partFor(o.SampleIndex)
	}
	if !strings.Contains(part, ".") {
		part += ".pprof"
	}
	p, err := decodePart(rec, part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	code, err := openCode(ctx, c, rec, p)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = file
	}
	return &Source{Name: name + ":" + strings.TrimSuffix(part, ".pprof"), Profile: p, Code: code, Recording: &rec.Manifest, Part: part}, nil
}

// partFor maps a sample index to the part of a recording that holds it.
func partFor(sampleIndex string) string {
	switch {
	case strings.HasPrefix(sampleIndex, "alloc"):
		return recording.PartAllocs
	case strings.HasPrefix(sampleIndex, "inuse"):
		return recording.PartHeap
	case sampleIndex == "contentions", sampleIndex == "delay":
		return recording.PartMutex
	}
	return recording.PartCPU
}

// fetchProfile takes a profile from an endpoint. A URL without a path means the
// CPU profile at the stock place, as with go tool pprof.
func fetchProfile(ctx context.Context, c Config, raw string, o SourceOptions) (*profile.Profile, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL: %w", raw, err)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/debug/pprof/profile"
	}
	seconds := o.Seconds
	if seconds <= 0 {
		seconds = 30
	}
	q := u.Query()
	if path.Base(u.Path) == "profile" {
		if given, err := strconv.Atoi(q.Get("seconds")); err == nil && given > 0 {
			seconds = given
		}
		q.Set("seconds", strconv.Itoa(seconds))
		u.RawQuery = q.Encode()
		c.say("fetch", fmt.Sprintf("taking a CPU profile of %d s from %s", seconds, u.Host))
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, fmt.Errorf("fetch %s: %w; is the service up, and net/http/pprof mounted there?", u, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("fetch %s: the service answers %s: %s", u, resp.Status, strings.TrimSpace(string(body)))
	}
	p, err := profile.Decode(resp.Body, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	return p, nil
}
