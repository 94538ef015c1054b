package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
)

// TestProcess starts one program in all the ways that it can behave.
func TestProcess(t *testing.T) {
	kit := mustBuild(t, BuildSpec{Package: "testdata/kit"})
	for _, c := range []struct {
		name string
		run  func(*testing.T, *Binary)
	}{
		{"answers while it runs", testAnswers},
		{"rates and GC settings", testSettings},
		{"hands over at its end", testCollect},
		{"tells what it took", testAccount},
		{"loses what it cannot hand over", testLost},
		{"ends during a profile", testLateProfile},
		{"stopped by hone hands over", testStopCollects},
		{"keeps its own flags and streams", testStreams},
		{"chatters", testChatter},
		{"tells its children nothing", testEnvironment},
		{"fills its trace", testTraceCap},
		{"execs", testExec},
		{"ends when hone hangs up", testHangUp},
		{"is left alone without hone", testAlone},
		{"stops", testStop},
		{"takes its children along", testChildren},
		{"ends with a crash of hone", testCrash},
		{"is waited for", testReady},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, kit) })
	}
}

func testAnswers(t *testing.T, kit *Binary) {
	p := mustStart(t, kit, RunSpec{Args: []string{"busy"}})
	ctx := soon(t)
	info, err := p.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if info.PID != p.PID() || info.Go != kit.Go || !info.Known || info.Listening || info.GOGC != 100 || info.GOMEMLIMIT != 0 {
		t.Errorf("info %+v", info)
	}
	wantIn(t, info.BuildInfo, "example.com/kit")

	cpu := make(chan []byte)
	go func() {
		b, err := p.CPUProfile(ctx, 700*time.Millisecond)
		if err != nil {
			t.Error(err)
		}
		cpu <- b
	}()
	before, err := p.Usage(ctx) // concurrent with the CPU profile
	if err != nil || before.MaxRSS == 0 {
		t.Errorf("usage %+v, %v", before, err)
	}
	m, err := p.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if m["/sched/gomaxprocs:threads"].Value != float64(info.GOMAXPROCS) || m["/sched/latencies:seconds"].Hist == nil {
		t.Errorf("metrics %v", m)
	}
	select {
	case <-cpu:
		t.Error("usage and metrics waited for the CPU profile")
	default:
	}
	wantIn(t, inflate(t, <-cpu), "main.spin")
	after, err := p.Usage(ctx)
	if err != nil || after.CPUSeconds <= before.CPUSeconds {
		t.Errorf("usage %+v after %+v, %v", after, before, err)
	}

	var trace bytes.Buffer
	cut, err := p.Trace(ctx, &trace, 300*time.Millisecond, 0)
	if err != nil || cut || !bytes.HasPrefix(trace.Bytes(), []byte("go 1.")) {
		t.Errorf("trace of %d bytes, cut %v, %v", trace.Len(), cut, err)
	}
	heap, err := p.Profile(ctx, "heap", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, inflate(t, heap), "main.allocate")

	_, err = p.Profile(context.Background(), "nonesuch", 0, false)
	wantMissing(t, err, "nonesuch profile", "no profile of that name")
	if _, err := p.Profile(ctx, "two words", 0, false); err == nil {
		t.Error("a name of two words")
	}
}

func testSettings(t *testing.T, kit *Binary) {
	p := mustStart(t, kit, RunSpec{Args: []string{"busy"}})
	ctx := soon(t)
	if b, err := p.Profile(ctx, "mutex", 0, false); err != nil || strings.Contains(inflate(t, b), "main.contend") {
		t.Errorf("mutexes are profiled unasked, or not at all: %v", err)
	}
	restore, notes, err := p.SetRates(ctx, 1, 1)
	if err != nil || len(notes) != 0 {
		t.Fatal(notes, err)
	}
	for _, name := range []string{"block", "mutex"} {
		for text := ""; !strings.Contains(text, "main.contend"); {
			b, err := p.Profile(ctx, name, 0, false)
			if err != nil {
				t.Fatalf("no %s samples: %v", name, err)
			}
			text = inflate(t, b)
		}
	}
	// The restore of a second call sets the rates of the first: 1 is 1 tick.
	again, _, err := p.SetRates(ctx, 5_000, 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(ctx); err != nil {
		t.Fatal(err)
	}
	if note, err := p.ask(ctx, "rates", time.Second, &bytes.Buffer{}, "rates", "-1", "-1"); err != nil || note != "1 1" {
		t.Errorf("rates are %q, %v; want 1 1", note, err)
	}
	if err := restore(ctx); err != nil {
		t.Fatal(err)
	}
	if note, err := p.ask(ctx, "rates", time.Second, &bytes.Buffer{}, "rates", "-1", "-1"); err != nil || note != "0 0" {
		t.Errorf("rates are %q, %v; want 0 0", note, err)
	}

	percent, limit := 250, int64(1<<30)
	if p0, l0, err := p.SetGC(ctx, &percent, &limit); err != nil || p0 != 100 || l0 != 0 {
		t.Errorf("GC settings were %d, %d, %v", p0, l0, err)
	}
	if info, err := p.Info(ctx); err != nil || info.GOGC != 250 || info.GOMEMLIMIT != 1<<30 {
		t.Errorf("info %+v, %v", info, err)
	}
	off, none := -1, int64(0)
	if p0, l0, err := p.SetGC(ctx, &off, &none); err != nil || p0 != 250 || l0 != 1<<30 {
		t.Errorf("GC settings were %d, %d, %v", p0, l0, err)
	}
	if p0, l0, err := p.SetGC(ctx, nil, nil); err != nil || p0 != -1 || l0 != 0 {
		t.Errorf("GC settings are %d, %d, %v", p0, l0, err)
	}
}

var everything = Collect{CPU: true, Allocs: true, Contention: true, Trace: true, TraceBytes: 32 << 20}

// testOwnPeak asserts that the peak memory of a program is its own. On Linux, the figure of
// getrusage includes the memory of the process that started it.
func testOwnPeak(t *testing.T, kit *Binary) {
	if runtime.GOOS != "linux" {
		return
	}
	const held = 256 << 20
	ballast := make([]byte, held)
	for i := 0; i < held; i += 4096 {
		ballast[i] = 1
	}
	if e := finish(t, mustStart(t, kit, RunSpec{Args: []string{"queue"}})); e.Usage.MaxRSS < 1<<20 || e.Usage.MaxRSS > held/2 {
		t.Errorf("a small program had %d MiB at its exit", e.Usage.MaxRSS>>20)
	}
	p := mustStart(t, kit, RunSpec{Args: []string{"idle"}})
	defer p.Stop(t.Context())
	if u, err := p.Usage(t.Context()); err != nil || u.MaxRSS < 1<<20 || u.MaxRSS > held/2 {
		t.Errorf("a small program has %d MiB, %v", u.MaxRSS>>20, err)
	}
	runtime.KeepAlive(ballast)
}

// testAccount asserts that a program's own usage is separate from that of its children, and that
// its allocations are counted to the object.
func testAccount(t *testing.T, kit *Binary) {
	live.Only(t)
	for mode, collect := range map[string]Collect{"alone": {}, "with collectors": everything} {
		t.Run(mode, func(t *testing.T) {
			e := finish(t, mustStart(t, kit, RunSpec{Args: []string{"children"}, Collect: collect}))
			a, u := e.Heap, e.Usage
			if u.ChildCPUSeconds < 0.1 || u.CPUSeconds-e.ProbeCPUSeconds > u.ChildCPUSeconds {
				t.Errorf("%v s of CPU, children %v s, but the child takes several times as much as its parent", u.CPUSeconds, u.ChildCPUSeconds)
			}
			if u.SystemSeconds <= 0 || u.SystemSeconds > u.CPUSeconds || u.PageFaults < 100 || u.MaxRSS < 1<<20 {
				t.Errorf("%v s in the kernel of %v, %d page faults, %d bytes", u.SystemSeconds, u.CPUSeconds, u.PageFaults, u.MaxRSS)
			}
			if collect == (Collect{}) && (a.AllocBytes < 200<<16 || a.AllocBytes > 210<<16 || a.AllocObjects < 200 || a.AllocObjects > 1500) {
				t.Errorf("%d bytes in %d objects, want 200 of 64 KiB and little else", a.AllocBytes, a.AllocObjects)
			}
			if a.GCCycles < 1 || a.GCCycles > 4 {
				t.Errorf("%d collections for 12.5 MiB in a heap of 4", a.GCCycles)
			}
			if a.GCSeconds == nil || a.BusySeconds == nil || *a.GCSeconds <= 0 || *a.BusySeconds < *a.GCSeconds || a.LockSeconds == nil {
				t.Errorf("the time of the collector, of everything, and of waiting for locks: %v, %v, %v", a.GCSeconds, a.BusySeconds, a.LockSeconds)
			}
		})
	}
	if e := finish(t, mustStart(t, kit, RunSpec{Args: []string{"queue"}})); e.Heap.LockSeconds == nil || *e.Heap.LockSeconds <= 0 {
		t.Errorf("no time is known for which goroutines waited for a lock: %v", e.Heap.LockSeconds)
	}
	testOwnPeak(t, kit)
	if e := finish(t, mustStart(t, kit, RunSpec{Args: []string{"syscallexit"}})); e.Heap != (Heap{}) || e.Usage.CPUSeconds == 0 || e.Usage.MaxRSS == 0 {
		t.Errorf("%+v of a program that exited without the probe", e)
	}
}

func testCollect(t *testing.T, kit *Binary) {
	for mode, code := range map[string]int{"return": 0, "exit3": 3, "fatal": 1, "instant": 0} {
		t.Run(mode, func(t *testing.T) {
			p := mustStart(t, kit, RunSpec{Args: []string{mode}, Collect: everything})
			e := finish(t, p)
			if e.Code != code || e.Signal != "" || e.Stopped {
				t.Errorf("exit %+v, want code %d", e, code)
			}
			if e.ProbeWall <= 0 || e.ProbeWall > e.Wall || e.ProbeCPUSeconds <= 0 {
				t.Errorf("the probe's share of the end is %v and %v s", e.ProbeWall, e.ProbeCPUSeconds)
			}
			parts, missing := p.Parts()
			if len(missing) != 0 || len(parts) != 7 {
				t.Fatalf("%d parts, missing %q", len(parts), missing)
			}
			if !bytes.HasPrefix(parts["trace"], []byte("go 1.")) {
				t.Error("the trace is none")
			}
			text := map[string]string{}
			for _, name := range []string{"cpu", "heap.start", "heap.end", "block", "mutex"} {
				text[name] = inflate(t, parts[name])
			}
			if mode == "instant" {
				return
			}
			wantIn(t, text["cpu"], "main.spin")
			wantIn(t, text["heap.end"], "main.allocate")
			wantIn(t, text["mutex"], "main.contend")
			wantIn(t, text["block"], "main.contend")
		})
	}
}

func testLost(t *testing.T, kit *Binary) {
	for mode, want := range map[string]string{"panic": "exit code 2", "syscallexit": "exit code 4"} {
		p := mustStart(t, kit, RunSpec{Args: []string{mode}, Collect: Collect{CPU: true, Allocs: true}})
		e := finish(t, p)
		wantIn(t, e.Failure(), want)
		parts, missing := p.Parts()
		if parts["cpu"] != nil || parts["heap.end"] != nil || parts["heap.start"] == nil {
			t.Errorf("%s: parts %v", mode, parts)
		}
		wantIn(t, missing["cpu"], want, "before delivering it")
		wantIn(t, missing["heap.end"], want)
		if mode == "panic" {
			wantIn(t, e.Failure(), "panic: oh dear")
		}
	}
}

func testLateProfile(t *testing.T, kit *Binary) {
	p := mustStart(t, kit, RunSpec{Args: []string{"late"}})
	b, err := p.CPUProfile(soon(t), 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, inflate(t, b), "main.spin")
	if e := finish(t, p); e.Code != 0 {
		t.Errorf("exit %+v", e)
	}
	if _, err := p.Metrics(soon(t)); !errors.Is(err, ErrEnded) {
		t.Errorf("metrics of an ended program: %v", err)
	}
	if u, err := p.Usage(soon(t)); err != nil || u.CPUSeconds <= 0 {
		t.Errorf("usage of an ended program: %+v, %v", u, err)
	}
}

func testStopCollects(t *testing.T, kit *Binary) {
	p := mustStart(t, kit, RunSpec{Args: []string{"busy"}, Collect: everything})
	if err := waitProbe(soon(t), p); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	if e := p.Exit(); !e.Stopped || e.Signal != "terminated" {
		t.Errorf("exit %+v", e)
	}
	if parts, missing := p.Parts(); len(parts) != 7 || len(missing) != 0 {
		t.Errorf("%d parts, missing %q", len(parts), missing)
	}
}

func testStreams(t *testing.T, kit *Binary) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := filepath.Join(dir, "out"), filepath.Join(dir, "err")
	var heard bytes.Buffer
	e := finish(t, mustStart(t, kit, RunSpec{Args: []string{"-v", "stdin"}, Stdin: in, Stdout: out, Stderr: errs, Echo: &heard}))
	if got := heard.String(); got != "read word\nverbose\n" && got != "verbose\nread word\n" {
		t.Errorf("heard %q", got)
	}
	if e.Failure() != "" || !slices.Equal(e.Stderr, []string{"verbose"}) {
		t.Errorf("exit %+v", e)
	}
	for file, want := range map[string]string{out: "read word\n", errs: "verbose\n"} {
		if b, err := os.ReadFile(file); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v; want %q", file, b, err, want)
		}
	}
	e = finish(t, mustStart(t, kit, RunSpec{Args: []string{"nonesuch"}}))
	if e.Failure() != "exit code 2; last lines on stderr: no such mode" {
		t.Errorf("failure %q", e.Failure())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(kit.Path), "stderr-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func testChatter(t *testing.T, kit *Binary) {
	out := filepath.Join(t.TempDir(), "out")
	var heard bytes.Buffer
	e := finish(t, mustStart(t, kit, RunSpec{Args: []string{"chatter"}, Stdout: out, Echo: &heard}))
	st, err := os.Stat(out)
	if err != nil || st.Size() != OutputCap {
		t.Errorf("the file has %d bytes, %v", st.Size(), err)
	}
	const last = "the very last line\n"
	const written = 12 << 20 // to each of the two, and the last line
	if punchHole(mustOpen(t, out), OutputCap, 1) == nil {
		if n := heard.Len(); n != 2*written+len(last) || !bytes.Contains(heard.Bytes(), []byte(last)) {
			t.Errorf("heard %d bytes of %d", n, 2*written+len(last))
		}
		if e.DroppedStdout != written-OutputCap || e.DroppedStderr != written-OutputCap+int64(len(last)) {
			t.Errorf("dropped %d and %d bytes of 4 MiB", e.DroppedStdout, e.DroppedStderr)
		}
		if n := len(e.Stderr); n != stderrLines || e.Stderr[n-1]+"\n" != last {
			t.Errorf("last lines %q", e.Stderr)
		}
		return
	}
	// Some is lost whenever the file is cut back, and that may be anything after the cap.
	if n := heard.Len(); n < OutputCap || n > 2*written+len(last) {
		t.Errorf("heard %d bytes of %d", n, 2*written+len(last))
	}
	if e.DroppedStdout <= 0 || e.DroppedStdout > written-OutputCap || e.DroppedStderr <= 0 {
		t.Errorf("dropped %d and %d bytes of 4 MiB", e.DroppedStdout, e.DroppedStderr)
	}
}

// TestShorten cuts back the file of a program that prints in pieces, as systems without holes do.
func TestShorten(t *testing.T) {
	var heard bytes.Buffer
	o, err := openOutput(filepath.Join(t.TempDir(), "out"), "", true, newEcho(&heard))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for i := range 3 {
		piece := bytes.Repeat(fmt.Appendf(nil, "%1023d\n", i), OutputCap>>10)
		want.Write(piece)
		if _, err := o.file.Write(piece); err != nil {
			t.Fatal(err)
		}
		st, err := o.look.Stat()
		if err != nil {
			t.Fatal(err)
		}
		o.show(st.Size(), false)
		o.shorten(st.Size())
	}
	if n := o.finish(); n != 2*OutputCap {
		t.Errorf("dropped %d bytes", n)
	}
	if !bytes.Equal(heard.Bytes(), want.Bytes()) {
		t.Errorf("heard %d bytes, which are not the %d written", heard.Len(), want.Len())
	}
	if !bytes.Equal(o.tail, want.Bytes()[want.Len()-stderrTail:]) {
		t.Errorf("a tail of %d bytes that are not the last", len(o.tail))
	}
}

func mustOpen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func testEnvironment(t *testing.T, kit *Binary) {
	out := filepath.Join(t.TempDir(), "out")
	finish(t, mustStart(t, kit, RunSpec{Args: []string{"environment"}, Stdout: out}))
	b, err := os.ReadFile(out)
	if err != nil || string(b) != "child \"\"\n" {
		t.Errorf("the program and its child know %q, %v", b, err)
	}
}

func testTraceCap(t *testing.T, kit *Binary) {
	live.Only(t)
	p := mustStart(t, kit, RunSpec{Args: []string{"busy"}})
	var trace bytes.Buffer
	cut, err := p.Trace(soon(t), &trace, 50*time.Second, 64<<10)
	if err != nil || !cut || trace.Len() < 64<<10 {
		t.Errorf("trace of %d bytes, cut %v, %v", trace.Len(), cut, err)
	}
	p = mustStart(t, kit, RunSpec{Args: []string{"busy"}, Collect: Collect{Trace: true, TraceBytes: 1 << 10}})
	for end := time.Now().Add(20 * time.Second); !p.Truncated("trace") && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	_, err = p.CPUProfile(soon(t), 50*time.Second) // the profile that runs with the trace goes on
	wantMissing(t, err, "hone is taking one already")
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	if parts, missing := p.Parts(); len(parts["trace"]) < 1<<10 || !p.Truncated("trace") || p.Truncated("cpu") {
		t.Errorf("trace of %d bytes, cut %v, missing %q", len(parts["trace"]), p.Truncated("trace"), missing)
	}
}

func testExec(t *testing.T, kit *Binary) {
	live.Only(t)
	p := mustStart(t, kit, RunSpec{Args: []string{"exec"}})
	ctx := soon(t)
	var err error
	for err == nil {
		_, err = p.Metrics(ctx)
	}
	wantIn(t, err.Error(), "no longer listens", "exec")
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	// The timer of a CPU profile, which a trace has too, survives the exec, and its signal kills
	// the new program if it arrives before the new runtime is ready.
	p = mustStart(t, kit, RunSpec{Args: []string{"exec"}, Collect: Collect{CPU: true}})
	_, err = p.Trace(soon(t), &bytes.Buffer{}, 50*time.Second, 0)
	if err == nil {
		t.Fatal("a trace of a process that exited")
	}
	if !strings.Contains(err.Error(), "profiling timer expired") {
		wantIn(t, err.Error(), "no longer listens", "exec")
	}
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	if _, missing := p.Parts(); missing["cpu"] == "" {
		t.Error("nothing is missing")
	}
}

// testHangUp: where no death signal announces hone's end, the probe detects it.
func testHangUp(t *testing.T, kit *Binary) {
	out := filepath.Join(t.TempDir(), "out")
	p := mustStart(t, kit, RunSpec{Args: []string{"parent"}, Stdout: out})
	child := number(t, lines(t, out, 1)[0])
	p.wire.in.Close()
	if e := finish(t, p); e.Signal != "killed" || e.Stopped {
		t.Errorf("exit %+v", e)
	}
	gone(t, child)
}

// testAlone: without hone the probe does nothing, and the runtime reports a deadlock.
func testAlone(t *testing.T, kit *Binary) {
	for _, variable := range []string{"", "3 3 cpu", "0 0", "1 2 allocs", "nonsense", "99 99"} {
		cmd := exec.CommandContext(soon(t), kit.Path, "deadlock")
		cmd.Env = append(os.Environ(), probeVariable+"="+variable)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "all goroutines are asleep") {
			t.Errorf("%s=%q: %v, %.300s", probeVariable, variable, err, out)
		}
	}
}
