package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// fakeGo makes the test binary answer like a go command: it prints the text, or fails with the
// words after "fail: ".
const fakeGo = "HONE_DOCTOR_TEST_FAKE_GO"

func TestMain(m *testing.M) {
	if answer, set := os.LookupEnv(fakeGo); set {
		if words, failing := strings.CutPrefix(answer, "fail: "); failing {
			os.Stderr.WriteString("go: downloading\n" + words + "\n")
			os.Exit(3)
		}
		os.Stdout.WriteString(answer)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// On this machine every check runs once, has a text, and a fix only if there is something to fix.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hone")
	checks := Run(t.Context(), Config{CacheDir: dir})
	var names []string
	for _, c := range checks {
		names = append(names, c.Name)
		if c.Detail == "" || (c.Fix != "" && c.Status == OK) {
			t.Errorf("%+v", c)
		}
		if c.Status != OK && c.Status != Warn && c.Status != Fail {
			t.Errorf("%s: status %q", c.Name, c.Status)
		}
	}
	want := []string{"go", "build flags", "cgo", "system", "/proc", "cores", "other load", "clock", "timers",
		"loopback", "ports", "open files", "cache", "throttling"}
	if !slices.Equal(names, want) {
		t.Errorf("checks %q, want %q", names, want)
	}
	for _, name := range []string{"go", "loopback", "cache"} { // the tests themselves need these
		if c := checks[slices.Index(names, name)]; c.Status == Fail {
			t.Errorf("%+v", c)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cache directory was made: %v", err)
	}
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if checks := Run(ctx, Config{}); len(checks) != 0 {
		t.Errorf("%d checks after the end of the context", len(checks))
	}
}

func TestReadToolchain(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	read := func(answer string) toolchain {
		t.Setenv(fakeGo, answer)
		return readToolchain(t.Context(), Config{GoCommand: self})
	}

	got := read(`{"GOVERSION":"go1.24.1","GOFLAGS":"-trimpath","CGO_ENABLED":"1","CC":"clang -m64"}`)
	if want := (toolchain{self, "go1.24.1", "-trimpath", true, "clang -m64", nil}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := read("fail: go.mod:3: invalid go version"); got.err == nil || !strings.HasSuffix(got.err.Error(), "exit status 3: go.mod:3: invalid go version") {
		t.Errorf("error %v", got.err)
	}
	if got := read("no JSON"); got.err == nil || !strings.Contains(got.err.Error(), "env -json") {
		t.Errorf("error %v", got.err)
	}
	got = readToolchain(t.Context(), Config{GoCommand: filepath.Join(t.TempDir(), "go")})
	if !errors.Is(got.err, fs.ErrNotExist) && !errors.Is(got.err, exec.ErrNotFound) || got.path != "" {
		t.Errorf("%+v", got)
	}
}

// expect compares a verdict, and searches for words in it.
func expect(t *testing.T, c Check, status Status, words ...string) {
	t.Helper()
	if c.Status != status {
		t.Errorf("%+v: want status %q", c, status)
	}
	for _, w := range words {
		if !strings.Contains(c.Detail+"\n"+c.Fix, w) {
			t.Errorf("%+v: want %q in it", c, w)
		}
	}
}

func TestJudgeToolchain(t *testing.T) {
	for _, tc := range []struct {
		version string
		status  Status
	}{
		{"go1.26.8", OK},
		{"go1.23", OK},
		{"go1.23rc1", OK},
		{"go1.22.12", Warn},
		{"devel go1.27-3f4a9b1 Fri Nov 20 12:00:00 2026", OK},
		{"go1.26.8 X:nogreenteagc", OK},
		{"gccgo 14", Warn},
		{"", Warn},
	} {
		expect(t, judgeToolchain(toolchain{path: "/go", version: tc.version}, "go1.26.8"), tc.status, tc.version)
	}
	expect(t, judgeToolchain(toolchain{err: exec.ErrNotFound}, "go1.26.8"), Fail, "PATH")
	expect(t, judgeToolchain(toolchain{path: "/go", err: errors.New("broken")}, "go1.26.8"), Fail, "broken")
}

func TestJudgeFlags(t *testing.T) {
	for _, tc := range []struct {
		flags  string
		status Status
		words  string
	}{
		{"", OK, "empty"},
		{"-buildvcs=false -trimpath -mod=vendor", OK, "merged"},
		{"-ldflags=-X=main.v=1 -tags=a,b", OK, "merged"},
		{"-race", Warn, "-race makes everything slower"},
		{"--race=true", Warn, "slower"},
		{"-race=false", OK, "merged"},
		{"-n", Fail, "builds nothing"},
		{"-race -n", Fail, "slower"},
		{"-n -race", Fail, "slower"},
		{"-gcflags=all=-N", Warn, "optimisations off"},
		{"'-gcflags=all=-N -l'", Warn, "optimisations off"},
		{"'-gcflags=-m -l'", Warn, "optimisations off"},
		{"-gcflags=-m", OK, "merged"},
		{"'-gcflags=-m' '-ldflags=-s -w'", OK, "merged"},
		{"-buildmode=pie", OK, "merged"},
		{"-buildmode=c-shared", Fail, "does not build a program"},
		{"-overlay=o.json", OK, "merged"},
		{"-exec=sudo -json", Fail, "-json makes the compiler print JSON"},
		{"'-ldflags=-X m.v=1", Fail, "has no end"},
		{"-toolexec=garble", Warn, "between"},
		{"-covermode=atomic", Warn, "counter"},
	} {
		expect(t, judgeFlags(toolchain{flags: tc.flags}), tc.status, tc.words)
	}
	expect(t, judgeFlags(toolchain{err: exec.ErrNotFound}), OK, "unknown")
}

func TestJudgeCgo(t *testing.T) {
	there := func(name string) (string, error) { return "/bin/" + name, nil }
	missing := func(string) (string, error) { return "", exec.ErrNotFound }
	expect(t, judgeCgo(toolchain{cgo: true, cc: "clang -m64"}, there), OK, "on, C compiler /bin/clang")
	expect(t, judgeCgo(toolchain{cgo: false, cc: "gcc"}, there), OK, "off by CGO_ENABLED=0", "/bin/gcc")
	expect(t, judgeCgo(toolchain{cgo: false, cc: ""}, missing), Warn, "no C compiler (gcc)", "install gcc")
	expect(t, judgeCgo(toolchain{cgo: true, cc: "zig cc"}, missing), Warn, "(zig)")
	expect(t, judgeCgo(toolchain{err: exec.ErrNotFound}, there), OK, "unknown")
}

func TestJudgeCores(t *testing.T) {
	for _, tc := range []struct {
		cores    int
		quota    float64
		maxprocs int
		target   string
		status   Status
		words    string
	}{
		{8, 0, 8, "go1.26.8", OK, "8, GOMAXPROCS 8"},
		{2, 0, 2, "go1.26.8", OK, "share"},
		{1, 0, 1, "go1.26.8", Warn, "alternate"},
		{8, 2.5, 3, "go1.26.8", OK, "quota 2.5 CPUs"},
		{8, 2.5, 8, "go1.26.8", Warn, "GOMAXPROCS=3"},
		{8, 4, 4, "go1.24.9", Warn, "go1.24.9 does not see the quota and starts 8 threads"},
		{8, 4, 4, "", OK, "quota 4"},
		{8, 0.5, 2, "go1.26.8", Warn, "alternate"},
		{8, 16, 8, "go1.24.9", OK, "quota 16"},
	} {
		m := recording.Machine{Cores: tc.cores, CgroupCPUs: tc.quota}
		expect(t, judgeCores(m, tc.maxprocs, tc.target), tc.status, tc.words)
	}
}

func TestJudgeMachine(t *testing.T) {
	expect(t, judgeSystem(recording.Machine{}), OK, runtime.GOOS, runtime.GOARCH)
	expect(t, judgeSystem(recording.Machine{CPU: "Some CPU", Kernel: "6.1.0", MemoryBytes: 8 << 30, CgroupBytes: 1 << 30}),
		OK, "6.1.0", "Some CPU", "8.0 GiB", "limited to 1.0 GiB")

	expect(t, judgeProc("linux", nil), OK, "readable")
	expect(t, judgeProc("linux", fs.ErrNotExist), Warn, "mount")
	expect(t, judgeProc("darwin", fs.ErrNotExist), OK, "none on darwin")

	expect(t, judgeThrottling(0, 0, false), OK, "no count")
	expect(t, judgeThrottling(0, 0, true), OK, "none")
	expect(t, judgeThrottling(0, 35, true), OK, "35 s since")
	expect(t, judgeThrottling(0.25, 35, true), Warn, "0.25 s", "quota")

	expect(t, judgeLoad(loadAverage{value: 0.5}, 2), OK, "0.50 on 2 cores")
	expect(t, judgeLoad(loadAverage{value: 0.7}, 2), Warn, "0.70")
	expect(t, judgeLoad(loadAverage{err: errors.New("no such thing")}, 2), OK, "unknown: no such thing")
}

func TestJudgeClockAndTimers(t *testing.T) {
	expect(t, judgeClock(clock{step: 40, cost: 45}), OK, "steps of 40ns", "45ns")
	expect(t, judgeClock(clock{step: 500 * time.Microsecond, cost: 10}), Warn, "500µs")
	expect(t, judgeClock(clock{step: 1000, cost: 1200}), Warn, "1.2µs", "clocksource")

	expect(t, judgeTimer(nil), OK, "unknown")
	late := make(lateness, 100)
	for i := range late {
		late[i] = time.Duration(i) * time.Microsecond
	}
	expect(t, judgeTimer(late), OK, "50µs late", "90µs (one in ten)")
	for i := range late {
		late[i] += time.Millisecond
	}
	expect(t, judgeTimer(late), Warn, "1.05ms late", "bursts")
}

// What the readers promise: a clock that advances, sleeps that are not too short.
func TestReaders(t *testing.T) {
	if c := readClock(); c.step <= 0 || c.step >= time.Hour || c.cost < 0 || c.cost >= time.Hour {
		t.Errorf("clock %+v", c)
	}
	late := readTimer(t.Context())
	if len(late) == 0 || late[0] < 0 || !slices.IsSorted(late) {
		t.Errorf("lateness %v", late)
	}
	if l := readLoopback(t.Context()); l.err != nil || l.median <= 0 {
		t.Errorf("loopback %+v", l)
	}
	if l := readFileLimit(); !l.none && l.n == 0 {
		t.Errorf("file limit %+v", l)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if l := readLoad(); l.err != nil || l.value < 0 {
		t.Errorf("load %+v", l)
	}
	if p := readPorts(); p.err != nil || p.first < 1 || p.last < p.first || p.last > 65535 {
		t.Errorf("ports %+v", p)
	}
	if err := readProc(); err != nil {
		t.Error(err)
	}
}

func TestJudgeNetwork(t *testing.T) {
	expect(t, judgePorts(portRange{first: 32768, last: 60999}), OK, "28232")
	expect(t, judgePorts(portRange{first: 49152, last: 50151}), Warn, "1000 for", "16 requests/s")
	expect(t, judgePorts(portRange{err: fs.ErrPermission}), OK, "unknown")

	expect(t, judgeLoopback(loopback{median: 61499}), OK, "61µs")
	expect(t, judgeLoopback(loopback{err: errors.New("refused")}), Fail, "refused")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	expect(t, judgeLoopback(readLoopback(ended)), OK, "interrupted")

	expect(t, judgeFiles(fileLimit{none: true}), OK, "no limit")
	expect(t, judgeFiles(fileLimit{n: 1024}), Warn, "ulimit")
	expect(t, judgeFiles(fileLimit{n: 1 << 20}), OK, "1048576")
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.hone"), make([]byte, 3<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	c := readCache(t.Context(), dir)
	if !c.made || c.files != 1 || c.bytes != 3<<20 || c.err != nil || c.cut {
		t.Errorf("%+v", c)
	}
	expect(t, judgeCache(dir, c), OK, "writable, 1 files, 3.0 MiB")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	expect(t, judgeCache(dir, readCache(t.Context(), filepath.Join(dir, "not", "yet"))), OK, "can be created")
	expect(t, judgeCache("", readCache(t.Context(), "")), Fail, "HONE_CACHE")
	file := filepath.Join(dir, "a.hone")
	expect(t, judgeCache(file, readCache(t.Context(), file)), Fail, "is not a directory")
	below := filepath.Join(file, "below")
	if c := judgeCache(below, readCache(t.Context(), below)); c.Status != Fail {
		t.Errorf("a directory below a file: %+v", c)
	}

	expect(t, judgeCache("d", cache{made: true, bytes: 6 << 30}), Warn, filepath.Join("d", "recordings"))
	expect(t, judgeCache("d", cache{made: true, free: 1 << 20, freeKnown: true}), Warn, "0.0 GiB free")
	expect(t, judgeCache("d", cache{made: true, cut: true, files: 9}), OK, "more than 9 files")
}
