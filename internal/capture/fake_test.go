package capture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
	"github.com/hone-go/hone/profile"
)

// fakeProgram is a program that behaves as tests need it.
type fakeProgram struct {
	began time.Time
	cores float64 // CPU seconds per second

	refuse    map[string]error // by call: "cpu", "trace", "rates", "heap", "block", …
	listening bool
	idle      bool   // nothing ever waits: block and mutex stay empty
	hangs     string // the profile that never arrives
	collects  bool   // a third of its CPU is garbage collection at GOGC=100, and memory is free

	// called is called before each call, by the goroutine that makes it.
	called func(call string)

	mu       sync.Mutex
	calls    []string
	heaps    int64
	done     chan struct{}
	exit     target.Exit
	stopped  bool
	restored bool
	gogc     int       // percent
	gogcs    []int     // all settings
	spent    float64   // CPU seconds up to since, if collects
	since    time.Time // of the setting

	parts   map[string][]byte
	missing map[string]string
}

func newFake() *fakeProgram {
	return &fakeProgram{began: time.Now(), cores: 0.5, gogc: 100, since: time.Now(), done: make(chan struct{}), refuse: map[string]error{}}
}

func (p *fakeProgram) call(name string) error {
	p.mu.Lock()
	p.calls = append(p.calls, name)
	hook, err := p.called, p.refuse[name]
	p.mu.Unlock()
	if hook != nil {
		hook(name)
	}
	select {
	case <-p.done:
		return target.ErrEnded
	default:
	}
	return err
}

// end makes the program exit.
func (p *fakeProgram) end(e target.Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		p.exit = e
		close(p.done)
	}
}

func (p *fakeProgram) Info(context.Context) (target.Info, error) {
	if err := p.call("info"); err != nil {
		return target.Info{}, err
	}
	return target.Info{PID: 7, Go: "go1.26.8", GOMAXPROCS: 2, GOGC: 100, GOOS: "linux", GOARCH: "amd64",
		BuildInfo: "go\tgo1.26.8\npath\texample.com/x\nmod\texample.com/x\t(devel)\t\nbuild\tvcs.revision=abc\nbuild\tvcs.modified=true\n",
		Listening: p.listening, Known: true}, nil
}

func (p *fakeProgram) Profile(ctx context.Context, name string, debug int, gc bool) ([]byte, error) {
	if err := p.call(name); err != nil {
		return nil, err
	}
	if p.hangs == name {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if debug > 0 {
		return []byte("goroutine 1 [running]:\n"), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch name {
	case "heap":
		p.heaps++
		return heapProfile(p.heaps * 1000), nil
	case "block", "mutex":
		p.heaps++
		if p.idle {
			return waitProfile(0), nil
		}
		return waitProfile(p.heaps), nil
	}
	return waitProfile(1), nil
}

func (p *fakeProgram) CPUProfile(ctx context.Context, d time.Duration) ([]byte, error) {
	if err := p.call("cpu"); err != nil {
		return nil, err
	}
	if err := p.sleep(ctx, d); err != nil && !errors.Is(err, target.ErrEnded) {
		return nil, err
	}
	return cpuProfile(5), nil
}

func (p *fakeProgram) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.done:
		return target.ErrEnded
	}
}

func (p *fakeProgram) Trace(ctx context.Context, w io.Writer, d time.Duration, _ int64) (bool, error) {
	if err := p.call("trace"); err != nil {
		return false, err
	}
	io.WriteString(w, "go 1.26 trace\x00\x00\x00")
	if d > time.Millisecond && p.refuse["full"] != nil {
		return true, p.sleep(ctx, d/4)
	}
	return false, p.sleep(ctx, d)
}

func (p *fakeProgram) SetRates(context.Context, int, int) (func(context.Context) error, []string, error) {
	if err := p.call("rates"); err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.restored = true
		return nil
	}, []string{"a note on rates"}, nil
}

func (p *fakeProgram) SetGC(_ context.Context, percent *int, _ *int64) (int, int64, error) {
	if err := p.call("gc"); err != nil {
		return 0, 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spend()
	old := p.gogc
	p.gogc = *percent
	p.gogcs = append(p.gogcs, p.gogc)
	return old, 0, nil
}

// spend adds the CPU since the setting changed: a third less without collection.
func (p *fakeProgram) spend() {
	rate := p.cores
	if p.collects {
		rate *= 2.0/3 + 1.0/3*100/float64(p.gogc)
	}
	now := time.Now()
	p.spent += rate * now.Sub(p.since).Seconds()
	p.since = now
}

func (p *fakeProgram) Metrics(context.Context) (target.Metrics, error) {
	if err := p.call("metrics"); err != nil {
		return nil, err
	}
	s := time.Since(p.began).Seconds()
	m := target.Metrics{
		recording.MetricAllocBytes: {Value: 1e6 * s}, recording.MetricAllocObjects: {Value: 1e4 * s}, recording.MetricCycles: {Value: 10 * s},
	}
	if p.collects {
		m[recording.MetricCPU], m[recording.MetricCPUIdle] = target.Metric{Value: 2 * s}, target.Metric{Value: s / 2}
		m[recording.MetricCPUGC] = target.Metric{Value: s / 2}
		m[recording.MetricLive], m[recording.MetricTotal] = target.Metric{Value: 64 << 20}, target.Metric{Value: 150 << 20}
	}
	return m, nil
}

func (p *fakeProgram) Usage(context.Context) (target.Usage, error) {
	if err := p.call("usage"); err != nil {
		return target.Usage{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spend()
	return target.Usage{CPUSeconds: p.spent, RSSBytes: 1 << 20}, nil
}

func (p *fakeProgram) Done() <-chan struct{} { return p.done }
func (p *fakeProgram) Exit() target.Exit     { p.mu.Lock(); defer p.mu.Unlock(); return p.exit }

func (p *fakeProgram) Stop(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.end(target.Exit{Code: -1, Signal: "terminated", Wall: time.Since(p.began), Stopped: true})
	return nil
}

func (p *fakeProgram) Parts() (map[string][]byte, map[string]string) { return p.parts, p.missing }

// fakeLoad answers at a constant rate until it is stopped.
type fakeLoad struct {
	rate    float64
	fail    bool
	hang    bool   // does not answer, and has a request open on each of 8 connections
	moved   string // answers 302 with this address
	expect  load.Expect
	mu      sync.Mutex
	last    time.Time
	done    chan struct{}
	once    sync.Once
	stopped bool
	cut     func() // called before each Cut
}

func (g *fakeLoad) Cut() *load.Result {
	if g.cut != nil {
		g.cut()
	}
	g.mu.Lock() // the recording may stop the load while a timer does
	defer g.mu.Unlock()
	now := time.Now()
	r := &load.Result{Start: g.last, Elapsed: now.Sub(g.last), Closed: true, Expect: g.expect,
		Status: map[int]int64{}, Errors: map[load.ErrorKind]int64{}, Service: histogram.New(), Verdict: load.VerdictOK}
	r.Requests = int64(g.rate * r.Elapsed.Seconds())
	status := 200
	switch {
	case g.hang:
		r.Requests, r.Waiting = 0, 8
	case g.moved != "":
		status, r.RedirectTo = 302, g.moved
	case g.fail:
		status = 500
	}
	r.Status[status] = r.Requests
	r.Service.RecordN(1e6, r.Requests)
	g.last = now
	return r
}
func (g *fakeLoad) Done() <-chan struct{} { return g.done }
func (g *fakeLoad) end()                  { g.once.Do(func() { close(g.done) }) }
func (g *fakeLoad) Stop() *load.Result {
	g.mu.Lock()
	g.stopped = true
	g.mu.Unlock()
	g.end()
	return g.Cut()
}

// Profiles of the fakes.

func heapProfile(n int64) []byte {
	b := profile.NewBuilder(
		profile.ValueType{Type: "alloc_objects", Unit: "count"}, profile.ValueType{Type: "alloc_space", Unit: "bytes"},
		profile.ValueType{Type: "inuse_objects", Unit: "count"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	b.Add([]profile.FrameSpec{{Function: "main.work", File: "main.go", Line: 3}}, n, 16*n, 5, 80)
	return built(b)
}

func cpuProfile(n int64) []byte {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "main.work", File: "main.go", Line: 3}}, n, n*1e7)
	return built(b)
}

func waitProfile(n int64) []byte {
	b := profile.NewBuilder(profile.ValueType{Type: "contentions", Unit: "count"}, profile.ValueType{Type: "delay", Unit: "nanoseconds"})
	if n > 0 {
		b.Add([]profile.FrameSpec{{Function: "main.wait", File: "main.go", Line: 5}}, n, n*1000)
	}
	return built(b)
}

func built(b *profile.Builder) []byte {
	p, err := b.Profile()
	if err != nil {
		panic(err)
	}
	data, err := encode(p)
	if err != nil {
		panic(err)
	}
	return data
}

// lab has fakes of everything that a recording needs.
type lab struct {
	t      *testing.T
	o      Options
	world  world
	prog   *fakeProgram
	gen    *fakeLoad
	builds int
	runs   []target.RunSpec
	// start creates the process of a run; nil: prog itself.
	start  func(target.RunSpec) process
	events []Event
}

// timed are all phases except those that build the program again.
func timed() []string {
	return slices.DeleteFunc(Phases(), recording.Apart)
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, prog: newFake(), gen: &fakeLoad{rate: 20_000, done: make(chan struct{})}}
	l.o = Options{
		Package: "./cmd/server", Duration: 400 * time.Millisecond, Warmup: 200 * time.Millisecond, Timeout: 5 * time.Second,
		Out: filepath.Join(t.TempDir(), "x.hone"), WorkDir: t.TempDir(), Version: "test",
		Phases:   []string{recording.PhaseCPU, recording.PhaseContention, recording.PhaseTrace, recording.PhaseGOGC}, // counts need a real build
		Load:     &load.Options{Targets: []load.Target{{URL: "http://127.0.0.1:8080/x"}}, Connections: 3},
		Progress: func(e Event) { l.events = append(l.events, e) },
	}
	l.world = world{
		build: func(context.Context, target.BuildSpec) (*target.Binary, startFunc, error) {
			l.builds++
			dir := filepath.Join(l.o.WorkDir, "build-1")
			os.MkdirAll(dir, 0o755)
			b := &target.Binary{Path: filepath.Join(dir, "x"), ImportPath: "example.com/x", Dir: t.TempDir(), Go: "go1.26.8", Probe: true}
			return b, l.launch, nil
		},
		attach:    func(context.Context, string, target.AttachOptions) (target.Program, error) { return l.prog, nil },
		waitReady: func(ctx context.Context, p target.Program, addr string) error { return nil },
		portTaken: func(string) error { return nil },
		tryLoad:   func(context.Context, load.Options) error { return nil },
		answers: func(_ context.Context, o load.Options, n int) (all []load.Answer, err error) {
			for _, x := range o.Targets[:min(n, len(o.Targets))] {
				all = append(all, load.Answer{Target: x.String(), Status: 200, Body: "00"})
			}
			return all, nil
		},
		startLoad: func(context.Context, load.Options) (generator, error) {
			l.gen.last = time.Now()
			return l.gen, nil
		},
		throttled:  func() (float64, bool) { return 0, false },
		machineCPU: func() (recording.CPUTime, bool) { return recording.CPUTime{}, false },
		tick:       20 * time.Millisecond,
		listenAt:   10 * time.Millisecond,
		patience:   5 * time.Second,
		restLimit:  5 * time.Second,
		freeAgain:  freeAgain,
	}
	return l
}

func (l *lab) launch(_ context.Context, s target.RunSpec) (process, error) {
	l.runs = append(l.runs, s)
	if l.start != nil {
		return l.start(s), nil
	}
	os.WriteFile(s.Stdout, []byte("hello\n"), 0o644)
	return l.prog, nil
}

// record runs the recording, and checks what always holds.
func (l *lab) record(ctx context.Context) (bool, error) {
	l.t.Helper()
	partial, err := record(ctx, l.o, l.world)
	if left := names(l.t, l.o.WorkDir); len(left) > 0 {
		l.t.Errorf("left in the work directory: %q", left)
	}
	if len(l.runs) > 0 && l.start == nil {
		select {
		case <-l.prog.done:
		default:
			l.t.Error("the program still runs")
		}
	}
	if !l.gen.last.IsZero() && !l.gen.stopped {
		l.t.Error("the load was not stopped")
	}
	if slices.Contains(l.prog.calls, "rates") && l.prog.refuse["rates"] == nil && !l.prog.restored {
		l.t.Error("the rates were not restored")
	}
	_, serr := os.Stat(l.o.Out)
	if kept := serr == nil; kept != (partial || err == nil) {
		l.t.Errorf("file kept: %v, but partial %v and error %v", kept, partial, err)
	}
	return partial, err
}

func (l *lab) open() *recording.Recording {
	l.t.Helper()
	r, err := recording.Open(l.o.Out)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { r.Close() })
	if err := r.Verify(); err != nil {
		l.t.Error(err)
	}
	return r
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		list = append(list, e.Name())
	}
	return list
}

// total sums a column of a part.
func total(t *testing.T, r *recording.Recording, part, sampleType string) int64 {
	t.Helper()
	data, err := r.Bytes(part)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(bytes.NewReader(data), 0)
	if err != nil {
		t.Fatalf("%s: %v", part, err)
	}
	i, err := p.SampleIndex(sampleType)
	if err != nil {
		t.Fatalf("%s: %v", part, err)
	}
	return p.Total(i)
}
