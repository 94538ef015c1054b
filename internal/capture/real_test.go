package capture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// The tests in this file build and run real programs, over loopback.

const realService = `
-- go.mod --
module example.com/service

go 1.23
-- main.go --
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	count int
)

func pad(s string, n int) string {
	for len(s) < n {
		s = "*" + s
	}
	return s
}

func main() {
	addr := flag.String("addr", "", "")
	die := flag.Duration("die", 0, "")
	flag.Parse()
	if *die > 0 {
		time.AfterFunc(*die, func() { fmt.Fprintln(os.Stderr, "out of cheese"); os.Exit(3) })
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		count++
		mu.Unlock()
		fmt.Fprintln(w, pad(strings.Repeat("x", 10), 400))
	})
	log.Println("listening")
	log.Fatal(http.ListenAndServe(*addr, nil))
}
`

const realProgram = `
-- go.mod --
module example.com/program

go 1.23
-- main.go --
package main

import (
	"fmt"
	"strings"
)

func main() {
	words := map[string]int{}
	for i := range 60_000 {
		words[strings.Repeat("x", i%100)+fmt.Sprint(i%1000)]++
	}
	fmt.Println(len(words))
}
-- bench_test.go --
package main

import (
	"strings"
	"testing"
)

func BenchmarkRepeat(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		_ = strings.Repeat("ab", i%500)
	}
}
`

// unpack writes a module into a directory of its own.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// freeAddr returns a loopback address at which nothing listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func realOptions(t *testing.T, dir string) Options {
	t.Helper()
	live.Only(t)
	return Options{
		Package: ".", Dir: dir, RunDir: t.TempDir(), Duration: 2 * time.Second, Warmup: 300 * time.Millisecond, Timeout: 2 * time.Minute,
		Out: filepath.Join(t.TempDir(), "x.hone"), WorkDir: t.TempDir(), Version: "test",
		Phases:   timed(),
		Progress: func(e Event) { t.Logf("%-10s %s", e.Phase, e.Text) },
	}
}

func openReal(t *testing.T, path string) *recording.Recording {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	for _, m := range r.Manifest.Missing {
		t.Logf("missing %s: %s (%s)", m.Part, m.Why, m.How)
	}
	for _, n := range r.Manifest.Notes {
		t.Logf("note: %s", n)
	}
	return r
}

func loadOn(addr string) *load.Options {
	return &load.Options{Targets: []load.Target{{URL: "http://" + addr + "/"}}, Connections: 2}
}

func TestRealService(t *testing.T) {
	dir := unpack(t, realService)
	before := names(t, dir)
	w := builtOnce(t, realOptions(t, dir))
	t.Run("under load", func(t *testing.T) { testUnderLoad(t, w, dir) })
	t.Run("dies", func(t *testing.T) { testDies(t, w, dir) })
	for _, phase := range []string{"start", "clean", "cpu", "contention", "trace", "rest"} {
		t.Run("interrupted in "+phase, func(t *testing.T) { testInterrupted(t, w, dir, phase) })
	}
	t.Run("observed", func(t *testing.T) {
		o := realOptions(t, dir)
		o.Args = []string{"-addr", freeAddr(t)}
		o.Duration = time.Second
		if partial, err := record(t.Context(), o, w); partial || err != nil {
			t.Fatal(partial, err)
		}
		if m := openReal(t, o.Out).Manifest; m.Target.Kind != "service" || !m.Complete {
			t.Errorf("%+v", m.Target)
		}
	})
	if d := cmp.Diff(before, names(t, dir)); d != "" {
		t.Errorf("the module's directory changed:\n%s", d)
	}
}

func testUnderLoad(t *testing.T, w world, dir string) {
	o := realOptions(t, dir)
	addr := freeAddr(t)
	o.Args, o.Load = []string{"-addr", addr}, loadOn(addr)
	partial, err := record(t.Context(), o, w)
	if partial || err != nil {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	m := r.Manifest
	for _, part := range []string{"cpu.pprof", "allocs.pprof", "heap.pprof", "goroutine.pprof", "goroutine.txt", "block.pprof",
		"mutex.pprof", "threadcreate.pprof", "trace.out", "metrics.jsonl", "load.json", "load.hdr", "buildinfo.txt", "stderr.txt"} {
		if !r.Has(part) {
			t.Errorf("no %s: %s", part, why(m, part))
		}
	}
	for _, name := range []string{"clean", "cpu", "contention", "trace"} {
		p, _ := r.Phase(name)
		if p.Requests == 0 || p.Failed > 0 || p.CPUSeconds <= 0 || p.AllocBytes < 400*p.Requests || p.Service == nil {
			t.Errorf("phase %s: %+v", name, p)
		}
	}
	// The profile has what was allocated in the window, within its sampling error.
	cpu, _ := r.Phase("cpu")
	got := float64(total(t, r, "allocs.pprof", "alloc_space"))
	if want := float64(cpu.AllocBytes); got < 0.5*want || got > 2*want {
		t.Errorf("allocs.pprof has %.0f bytes, the runtime counted %.0f", got, want)
	}
	if n := total(t, r, "cpu.pprof", "cpu"); n <= 0 {
		t.Errorf("cpu.pprof has %d ns", n)
	}
	if m.Target.PID == 0 || m.Runtime.GOMAXPROCS == 0 || m.Runtime.Module != "example.com/service" || m.Machine.Cores == 0 {
		t.Errorf("%+v %+v %+v", m.Target, m.Runtime, m.Machine)
	}
	nothingLeft(t, o, addr)
}

// nothingLeft checks that neither a process nor a file of the recording remains.
func nothingLeft(t *testing.T, o Options, addr string) {
	t.Helper()
	if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		conn.Close()
		t.Error("the service still listens")
	}
	if left := names(t, o.WorkDir); len(left) > 0 {
		t.Errorf("left in the work directory: %q", left)
	}
}

func testDies(t *testing.T, w world, dir string) {
	o := realOptions(t, dir)
	addr := freeAddr(t)
	o.Args, o.Load = []string{"-addr", addr, "-die", "3s"}, loadOn(addr)
	o.Duration = 20 * time.Second
	partial, err := record(t.Context(), o, w)
	if !partial || err == nil || !strings.Contains(err.Error(), "exit code 3; last lines on stderr: ") || !strings.Contains(err.Error(), "out of cheese") {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	if r.Manifest.Complete || !r.Has("stderr.txt") || len(r.Manifest.Phases) == 0 {
		t.Errorf("%+v", r.Manifest)
	}
	nothingLeft(t, o, addr)
}

func testInterrupted(t *testing.T, w world, dir, phase string) {
	o := realOptions(t, dir)
	addr := freeAddr(t)
	o.Args, o.Load = []string{"-addr", addr}, loadOn(addr)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(e Event) {
		// In the middle of the phase, or at its start if it has no middle.
		if e.Phase == phase && (e.At > 0 || e.Of == 0) {
			cancel()
		}
	}
	partial, err := record(ctx, o, w)
	if !errors.Is(err, context.Canceled) || partial == (phase == "start") {
		t.Fatal(partial, err)
	}
	if partial {
		openReal(t, o.Out)
	}
	nothingLeft(t, o, addr)
}

// builtOnce is real except for its builds, which are copies of a single one.
func builtOnce(t *testing.T, o Options) world {
	w := realWorld()
	bin, _, err := w.build(t.Context(), target.BuildSpec{Package: o.Package, Dir: o.Dir, WorkDir: o.WorkDir})
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(bin.Path)
	if err != nil {
		t.Fatal(err)
	}
	w.build = func(ctx context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
		dir, err := os.MkdirTemp(s.WorkDir, "build-")
		if err != nil {
			return nil, nil, err
		}
		again := target.Binary{
			Path: filepath.Join(dir, filepath.Base(bin.Path)), ImportPath: bin.ImportPath, Module: bin.Module, Dir: bin.Dir,
			Go: bin.Go, GoCommand: bin.GoCommand, Probe: bin.Probe, BuildFlags: bin.BuildFlags, Notes: bin.Notes,
		}
		if err := os.WriteFile(again.Path, program, 0o755); err != nil {
			return nil, nil, err
		}
		return &again, func(ctx context.Context, s target.RunSpec) (process, error) { return again.Start(ctx, s) }, nil
	}
	return w
}

func TestRealProgramAndBenchmark(t *testing.T) {
	dir := unpack(t, realProgram)
	t.Run("program", func(t *testing.T) {
		o := realOptions(t, dir)
		if partial, err := Record(t.Context(), o); partial || err != nil {
			t.Fatal(partial, err)
		}
		r := openReal(t, o.Out)
		m := r.Manifest
		if m.Target.Kind != "program" || *m.Target.ExitCode != 0 {
			t.Errorf("%+v", m.Target)
		}
		for _, part := range []string{"cpu.pprof", "allocs.pprof", "heap.pprof", "block.pprof", "mutex.pprof", "trace.out", "stdout.txt", "buildinfo.txt"} {
			if !r.Has(part) {
				t.Errorf("no %s: %s", part, why(m, part))
			}
		}
		cpu, _ := r.Phase("cpu")
		if cpu.Runs < 2 || cpu.CPUSeconds <= 0 {
			t.Errorf("%+v", cpu)
		}
		perRun := total(t, r, "allocs.pprof", "alloc_space") / int64(cpu.Runs)
		if perRun < 2<<20 || perRun > 20<<20 { // 60,000 strings of 50 bytes on average, and more
			t.Errorf("%d bytes allocated per run", perRun)
		}
	})
	t.Run("benchmark", func(t *testing.T) {
		o := realOptions(t, dir)
		o.Bench = "."
		if partial, err := Record(t.Context(), o); partial || err != nil {
			t.Fatal(partial, err)
		}
		r := openReal(t, o.Out)
		text, err := r.Bytes("bench.txt")
		if err != nil {
			t.Fatal(err)
		}
		clean, _ := r.Phase("clean")
		if lines := parseBench(text); len(lines) != clean.Runs || !strings.HasPrefix(lines[0].name, "Repeat") {
			t.Errorf("%d runs printed\n%s", clean.Runs, text)
		}
		for _, part := range []string{"cpu.pprof", "allocs.pprof", "trace.out"} {
			if !r.Has(part) {
				t.Errorf("no %s: %s", part, why(r.Manifest, part))
			}
		}
	})
	t.Run("no benchmark", func(t *testing.T) {
		o := realOptions(t, dir)
		o.Bench = "Nothing"
		partial, err := Record(t.Context(), o)
		if partial || err == nil || !strings.Contains(err.Error(), `no benchmarks matched "Nothing"`) {
			t.Error(partial, err)
		}
		if _, err := os.Stat(o.Out); err == nil {
			t.Error("a file was left")
		}
	})
}

// TestRealURL records this test's own process through the standard endpoints.
func TestRealURL(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/x", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Repeat("ab", 5000)) })
	srv := httptest.NewServer(mux)
	defer srv.Close()

	o := realOptions(t, "")
	o.Package, o.URL = "", srv.URL
	o.Load = &load.Options{Targets: []load.Target{{URL: srv.URL + "/x"}}, Rate: 200}
	if partial, err := Record(t.Context(), o); partial || err != nil {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	m := r.Manifest
	for _, part := range []string{"cpu.pprof", "allocs.pprof", "heap.pprof", "goroutine.pprof", "goroutine.txt", "trace.out"} {
		if !r.Has(part) {
			t.Errorf("no %s: %s", part, why(m, part))
		}
	}
	for part, call := range map[string]string{"block.pprof": "SetBlockProfileRate", "mutex.pprof": "SetMutexProfileFraction"} {
		if w := why(m, part); !strings.Contains(w, call) {
			t.Errorf("%s is missing because %q", part, w)
		}
	}
	if w := why(m, "metrics.jsonl"); w == "" {
		t.Error("metrics.jsonl is not explained")
	}
	clean, _ := r.Phase("clean")
	if clean.Latency == nil || clean.Lag == nil {
		t.Errorf("%+v", clean)
	}
}
