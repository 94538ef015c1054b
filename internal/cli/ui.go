package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/internal/ui"
)

// uiFlags are the flags of `hone ui`.
type uiFlags struct {
	out       outputFlags
	connect   connectFlags
	listen    string
	token     string
	noBrowser bool
}

func uiCommand() command {
	return command{
		name: "ui", args: "[SOURCE|DIR|URL...]", group: "the main job",
		short: "show recordings, profiles, traces and services in a browser",
		long: `Serves recordings, pprof files and traces to a browser: findings, flame graph, call graph, source with costs, requests,
timelines, comparisons. A directory stands for all recordings in it, including new ones; without sources, the pages show
hone's cache of recordings, and the history of the repository. Every figure is one that a command prints with -json. For the URL of a service that mounts
net/http/pprof, the pages take profiles, traces and recordings at a click and keep them in hone's cache.

The server listens on loopback, and accepts loopback host names only. Any other -listen requires a -token; "new" creates one.
The address of a page can be shared with anyone who can reach the server.`,
		examples: []string{
			"hone ui",
			"hone ui before.hone after.hone",
			"hone ui http://127.0.0.1:6060",
			"hone ui -no_browser -listen 127.0.0.1:6061 ./recordings",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var u uiFlags
			u.out.declare(fs, "")
			u.connect.declare(fs)
			fs.StringVar(&u.listen, "listen", "127.0.0.1:0", "serve on `ADDRESS`")
			fs.StringVar(&u.token, "token", "", "require this `TOKEN`; new: create one")
			fs.BoolVar(&u.noBrowser, "no_browser", false, "do not open a browser")
			return func(ctx context.Context, env Env, args, _ []string) error { return u.run(ctx, env, args) }
		},
	}
}

func (u *uiFlags) run(ctx context.Context, env Env, args []string) error {
	if u.out.json {
		return usagef("ui: a server has no -json output; its pages show what other commands print with -json")
	}
	cfg, _, err := u.out.session(env)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if args, err = usualShelves(ctx, env, cfg.CacheDir); err != nil {
			return err
		}
	}
	shelves, err := shelvesOf(env.Dir, args)
	if err != nil {
		return err
	}
	defer adaptCollector()()
	b := &uiBackend{env: env, shelves: shelves, kept: &keptSources{ctx: ctx}, cfg: cfg, connect: u.connect}
	done, err := u.serve(ctx, env, env.Stdout, b, &ui.Feed{})
	if err != nil {
		return err
	}
	return <-done
}

// serve opens the pages of a backend and prints their address to w. done receives the error of the
// server when it stops: nil when ctx ended.
func (u *uiFlags) serve(ctx context.Context, env Env, w io.Writer, b *uiBackend, feed *ui.Feed) (done <-chan error, err error) {
	if u.token == "new" {
		u.token = rand.Text()
	}
	host, _, err := net.SplitHostPort(u.listen)
	if err != nil {
		return nil, usagef("ui: -listen %s: want HOST:PORT, such as 127.0.0.1:6061", u.listen)
	}
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	if !local && u.token == "" {
		return nil, usagef("ui: -listen %s is reachable from other machines: add -token new", u.listen)
	}
	o := ui.Options{Backend: b, Feed: feed, Token: u.token, AnyHost: !local}
	if slices.ContainsFunc(b.Sources(), func(s ui.Source) bool { return s.Kind == ui.KindService || s.Kind == ui.KindHistory }) {
		o.Take = b.take
	}
	handler, wait, err := ui.New(ctx, o)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", u.listen)
	if err != nil {
		return nil, fmt.Errorf("ui: %w", err)
	}
	address := "http://" + listener.Addr().String() + "/"
	if u.token != "" {
		address += "?token=" + u.token
	}
	if _, err := fmt.Fprintln(w, address); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if !u.noBrowser {
		if err := openBrowser(ctx, address); err != nil {
			env.say("hone: open the address in a browser (%v)", err)
		}
	}
	closed := make(chan error, 1)
	go func() {
		err := serveUntil(ctx, listener, handler)
		wait() // wait until running jobs have closed their recordings
		closed <- err
	}()
	return closed, nil
}

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if server.Shutdown(end) != nil {
		server.Close()
	}
	return nil // the server was stopped
}

func openBrowser(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // only to release its resources
	return nil
}

// usualShelves returns what the pages show if no sources are given: the recordings in the cache,
// and the history of the repository if there is one.
func usualShelves(ctx context.Context, env Env, cache string) ([]string, error) {
	shelves := []string{filepath.Join(cache, "recordings")}
	if err := os.MkdirAll(shelves[0], 0o755); err != nil {
		return nil, err
	}
	if db, err := new(historyPlace).where(ctx, env); err == nil && (history.IsServer(db) || isFile(db)) {
		shelves = append(shelves, db)
	}
	return shelves, nil
}

// shelvesOf makes paths absolute, and rejects those that do not exist.
func shelvesOf(dir string, args []string) ([]string, error) {
	var paths []string
	for _, a := range args {
		if isService(a) || history.IsServer(a) {
			paths = append(paths, a)
			continue
		}
		if !filepath.IsAbs(a) {
			a = filepath.Join(dir, a)
		}
		if _, err := os.Stat(a); err != nil {
			return nil, fmt.Errorf("ui: %w", err)
		}
		paths = append(paths, a)
	}
	return paths, nil
}

// uiBackend runs hone's own commands for the pages.
type uiBackend struct {
	env     Env
	shelves []string               // files, directories of recordings, and URLs of services
	running atomic.Pointer[string] // name of the recording in progress; nil: none
	made    madeFiles              // files that were taken from services
	cfg     session.Config         // for these
	connect connectFlags

	mu     sync.Mutex // held by the running command
	traces source.Traces
	kept   *keptSources // decoded profiles of the last commands; nil: none are cached
	state  string       // of the sources' files when the first of them was read
	ended  time.Time    // the end of the last command
	ahead  bool         // views are being prepared
}

// mostKept is the largest number of decoded profiles in the cache.
const mostKept = 4

// sources returns the function that reads profiles for a command. Those of the last commands are
// cached, unless a file changed.
func (b *uiBackend) sources() openFunc {
	if b.kept == nil {
		return nil
	}
	var state strings.Builder
	for _, s := range b.Sources() {
		if info, err := os.Stat(s.Path); err == nil {
			fmt.Fprintln(&state, s.Path, info.Size(), info.ModTime())
		}
	}
	if b.kept.kept == nil || len(b.kept.kept) >= mostKept || state.String() != b.state {
		b.kept.kept, b.state = map[string]*source.Source{}, state.String()
	}
	return b.kept.open
}

// Sources lists the files, the recordings in the directories (newest first in each), and the files
// taken from services.
func (b *uiBackend) Sources() []ui.Source {
	var out []ui.Source
	if name := b.running.Load(); name != nil {
		out = append(out, ui.Source{Name: *name, Path: "run " + *name, Kind: ui.KindRun})
	}
	for _, p := range append(slices.Clone(b.shelves), b.made.all()...) {
		if isService(p) {
			out = append(out, ui.Source{Name: p, Path: p, Kind: ui.KindService})
			continue
		}
		if history.IsServer(p) {
			out = append(out, ui.Source{Name: history.WithoutPassword(p), Path: p, Kind: ui.KindHistory})
			continue
		}
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			out = append(out, ui.Source{Name: filepath.Base(p), Path: p, Kind: kindOf(p)})
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			continue
		}
		var found []ui.Source
		times := map[string]time.Time{}
		for _, e := range entries {
			path := filepath.Join(p, e.Name())
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ".hone") {
				times[path] = info.ModTime()
				found = append(found, ui.Source{Name: e.Name(), Path: path, Kind: ui.KindRecording})
			}
		}
		slices.SortFunc(found, func(x, y ui.Source) int {
			return cmp.Or(times[y.Path].Compare(times[x.Path]), strings.Compare(x.Path, y.Path))
		})
		out = append(out, found...)
	}
	return out
}

// kindOf detects a file's kind from its first bytes.
func kindOf(path string) ui.Kind {
	f, err := os.Open(path)
	if err != nil {
		return ui.KindProfile
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head)
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK")):
		return ui.KindRecording
	case bytes.HasPrefix(head, []byte("go 1.")):
		return ui.KindTrace
	case bytes.HasPrefix(head, []byte("SQLite f")):
		return ui.KindHistory
	}
	return ui.KindProfile
}

// Run runs a command as its user would, with its output going to w.
func (b *uiBackend) Run(ctx context.Context, w io.Writer, args ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var said bytes.Buffer
	env := b.env
	env.sources, env.traces = b.sources(), &b.traces
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), w, &said
	env.StdoutTerminal, env.StdoutTTY, env.StderrTTY, env.Width = false, false, false, 0
	env, flush := env.escaped()
	err := releasing(func() error { return dispatch(ctx, args, env) })
	if ferr := flush(); err == nil {
		err = ferr
	}
	b.ended = time.Now()
	b.prepare()
	return err
}

// Part opens a part of a recording.
func (b *uiBackend) Part(path, name string) (io.ReadCloser, error) {
	rec, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	if name == "manifest.json" {
		data, err := manifestText(rec)
		rec.Close()
		return io.NopCloser(bytes.NewReader(data)), err
	}
	if name == latencyPart {
		data, err := latencyJSON(rec)
		rec.Close()
		return io.NopCloser(bytes.NewReader(data)), err
	}
	if !slices.ContainsFunc(rec.Manifest.Parts, func(p recording.Part) bool { return p.Name == name }) {
		rec.Close()
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	part, err := rec.Part(name)
	if err != nil {
		rec.Close()
		return nil, err
	}
	return &partOf{part, rec}, nil
}

// partOf is a part that also closes its recording.
type partOf struct {
	io.ReadCloser
	rec *recording.Recording
}

func (p *partOf) Close() error { return errors.Join(p.ReadCloser.Close(), p.rec.Close()) }

func manifestText(rec *recording.Recording) ([]byte, error) {
	var out bytes.Buffer
	err := render.JSON(&out, rec.Manifest)
	return out.Bytes(), err
}
