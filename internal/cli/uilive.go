package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/internal/ui"
)

// isService reports whether a source of hone ui is a service rather than a file.
func isService(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// madeFiles lists files that were created while the server ran.
type madeFiles struct {
	mu    sync.Mutex
	paths []string
}

func (t *madeFiles) add(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.paths, path) {
		t.paths = append(t.paths, path)
	}
}

func (t *madeFiles) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.paths)
}

// takes lists what a page can take from a service: a recording, or a profile of net/http/pprof by
// its name. length says whether it takes a given time.
func takes() map[string]struct{ length bool } {
	return map[string]struct{ length bool }{
		"record": {true}, "profile": {true}, "trace": {true},
		"heap": {}, "allocs": {}, "goroutine": {}, "mutex": {}, "block": {}, "threadcreate": {},
	}
}

// take takes what a page requests from a service.
func (b *uiBackend) take(ctx context.Context, service ui.Source, what string, length time.Duration, say func(ui.Event)) (path string, err error) {
	kind, ok := takes()[what]
	switch {
	case service.Kind == ui.KindHistory:
		path, err = b.fromHistory(ctx, service.Path, strings.TrimPrefix(what, ui.FileOf))
	case !ok:
		return "", fmt.Errorf("%q: no such profile", what)
	case what == "record":
		path, err = b.record(ctx, service.Path, length, say)
	case kind.length:
		path, err = b.fetch(ctx, service.Path, what, length, say)
	default:
		path, err = b.fetch(ctx, service.Path, what, 0, say)
	}
	if path != "" {
		b.made.add(path)
	}
	return path, err
}

// record makes a recording of a service, as hone record does.
func (b *uiBackend) record(ctx context.Context, service string, length time.Duration, say func(ui.Event)) (string, error) {
	o := capture.Options{URL: service, Arg: service, Duration: length, RunDir: b.env.Dir}
	var err error
	if o.Attach.Header, err = parseHeaders(b.connect.headers); err != nil {
		return "", err
	}
	if o.Attach.TLS, err = b.connect.tls(); err != nil {
		return "", err
	}
	cfg := b.cfg
	cfg.Progress = func(e capture.Event) { say(eventOf(e)) }
	return session.Record(ctx, cfg, o)
}

// eventOf converts an event of a recording for the pages.
func eventOf(e capture.Event) ui.Event {
	return ui.Event{Phase: e.Phase, Text: e.Text, Spent: e.At.Seconds(), Of: e.Of.Seconds(), End: e.End, Window: e.Window, HeapLive: e.HeapLive}
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// fetch stores a response of net/http/pprof in a file of the cache.
func (b *uiBackend) fetch(ctx context.Context, service, what string, length time.Duration, say func(ui.Event)) (path string, err error) {
	u, err := url.Parse(service)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%s-%s", time.Now().Format("20060102-150405"), strings.Trim(notInNames.ReplaceAllString(u.Host, "-"), "-"), what)
	if u.Path == "" || u.Path == "/" {
		u.Path = "/debug/pprof/"
	}
	u = u.JoinPath(what)
	ext := ".pb.gz"
	if what == "trace" {
		ext = ".trace"
	}
	if length > 0 {
		u.RawQuery = url.Values{"seconds": {fmt.Sprintf("%.0f", length.Seconds())}}.Encode()
	}
	var o source.Options
	if o.Header, err = parseHeaders(b.connect.headers); err != nil {
		return "", err
	}
	if o.TLS, err = b.connect.tls(); err != nil {
		return "", err
	}
	say(ui.Event{Phase: what, Of: length.Seconds(), Text: u.String()})
	dir := filepath.Join(b.cfg.CacheDir, "taken")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, name+"-*"+ext)
	if err != nil {
		return "", err
	}
	err = b.env.opener(b.cfg, o).Copy(ctx, u.String(), length, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// fromHistory stores a profile of a history's run in a file of the cache; name is RUN/FILE.
func (b *uiBackend) fromHistory(ctx context.Context, db, name string) (path string, err error) {
	s, err := history.Open(ctx, db)
	if err != nil {
		return "", err
	}
	defer s.Close()
	id, file, _ := strings.Cut(name, "/")
	run, err := s.Find(ctx, id)
	if err != nil {
		return "", err
	}
	data, err := s.File(ctx, run.ID, file)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.cfg.CacheDir, "taken")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	short := func(s string) string { return s[:min(len(s), 10)] }
	path = filepath.Join(dir, notInNames.ReplaceAllString(short(run.Commit)+"-"+short(run.ID)+"-"+file, "-"))
	return path, os.WriteFile(path, data, 0o600)
}

// viewed is a recording that pages show while it is recorded.
type viewed struct {
	rec       *recordFlags
	out       outputFlags
	then      afterwards
	noBrowser bool
}

// run records while the pages are open, prints the findings, and serves the pages until ctx ends.
func (v *viewed) run(ctx context.Context, env Env, cfg session.Config, prog *progress, args, rest []string) error {
	b := &uiBackend{env: env, kept: &keptSources{ctx: ctx}, cfg: cfg}
	of := strings.Join(args, " ")
	if of == "." { // which says nothing to a reader of the page
		of = filepath.Base(filepath.Join(env.Dir, v.rec.dir))
	}
	name := "recording " + of
	b.running.Store(&name)
	feed := &ui.Feed{}
	pages := uiFlags{listen: "127.0.0.1:0", noBrowser: v.noBrowser}
	closed, err := pages.serve(ctx, env, env.Stderr, b, feed)
	if err != nil {
		return err
	}
	began := time.Now()
	publish := func(e ui.Event) {
		e.Job, e.At = name, time.Since(began).Seconds()
		feed.Publish(e)
	}
	publish(ui.Event{Start: true})
	report := cfg.Progress
	cfg.Progress = func(e capture.Event) {
		report(e)
		publish(eventOf(e))
	}
	path, err := v.rec.record(ctx, env, cfg, prog, args, rest)
	last := ui.Event{Done: true}
	if err != nil {
		last.Error = err.Error()
	}
	if path != "" {
		b.made.add(path)
		last.Made = ui.IDOf(path)
	}
	b.running.Store(nil)
	publish(last)
	if err == nil {
		cfg.Progress = report
		_, err = diagnoseAndPrint(ctx, env, cfg, prog, v.out, path, v.then)
	}
	if err != nil && ctx.Err() == nil {
		env.say("hone: %v", err)
	}
	if ctx.Err() == nil {
		env.say("press Ctrl-C to stop serving the pages")
	}
	return errors.Join(<-closed, err)
}
