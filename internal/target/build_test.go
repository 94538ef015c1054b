package target

import (
	"context"
	"debug/elf"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
)

// unpack writes one of the modules in testdata/build, and checks that it is unchanged when the test
// ends.
func unpack(t *testing.T, name string) string {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("testdata", "build", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := tree(t, string(archive))
	before := snapshot(t, dir)
	t.Cleanup(func() {
		if after := snapshot(t, dir); !maps.Equal(before, after) {
			t.Errorf("the tree is not as it was: %q, was %q", after, before)
		}
	})
	return dir
}

// says runs a program until it exits, collecting, and checks its output.
func says(t *testing.T, b *Binary, want string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	p := mustStart(t, b, RunSpec{Stdout: out, Collect: Collect{CPU: true, Allocs: true}})
	e := finish(t, p)
	if e.Failure() != "" {
		t.Errorf("it ends badly: %s", e.Failure())
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != want {
		t.Errorf("it says %q, %v; want %q", got, err, want)
	}
	if parts, missing := p.Parts(); b.Probe && (len(parts) != 4 || len(missing) != 0) {
		t.Errorf("%d parts, missing %q", len(parts), missing)
	}
}

func TestBuildKinds(t *testing.T) {
	live.Only(t)
	for _, c := range []struct{ name, pkg, importPath, module, want string }{
		{"workspace", "./app/cmd/hello", "example.com/app/cmd/hello", "example.com/app", "hello workspace\n"},
		{"vendored", "", "example.com/app", "example.com/app", "hello vendored\n"},
		{"names", ".", "example.com/app", "example.com/app", "hello names\n"},
		{"files", "a.go b.go", "command-line-arguments", "", "hello files\n"},
		{"cgo", "example.com/app", "example.com/app", "example.com/app", "hello 42\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath("gcc"); c.name == "cgo" && err != nil {
				t.Skip("no C compiler")
			}
			dir := unpack(t, c.name)
			b := mustBuild(t, BuildSpec{Package: c.pkg, Dir: dir})
			if b.ImportPath != c.importPath || b.Module != c.module || !strings.HasPrefix(b.Dir, dir) {
				t.Errorf("built %+v", b)
			}
			if !strings.HasPrefix(b.Go, "go1.") || b.Took <= 0 {
				t.Errorf("built %+v", b)
			}
			says(t, b, c.want)
			if err := b.Remove(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(b.Path)), "*")); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestBuildWithoutProbe(t *testing.T) {
	live.Only(t)
	dir := unpack(t, "shadowed")
	work := t.TempDir()
	for name, s := range map[string]BuildSpec{
		"fails":    {Dir: dir, WorkDir: work},
		"as asked": {Dir: dir, WorkDir: work, NoProbe: true},
	} {
		b, err := Build(soon(t), s)
		if err != nil {
			t.Fatal(err)
		}
		if b.Probe || len(b.Notes) != 1 {
			t.Fatalf("%s: probe %v, notes %q", name, b.Probe, b.Notes)
		}
		wantIn(t, b.Notes[0], "without hone's probe", name)
		says(t, b, "hello shadowed\n")
	}
	b, err := Build(soon(t), BuildSpec{Dir: dir, WorkDir: work, NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	p := mustStart(t, b, RunSpec{Collect: Collect{CPU: true}})
	info, err := p.Info(soon(t))
	if err != nil || info.Known || info.PID != p.PID() {
		t.Errorf("info %+v, %v", info, err)
	}
	wantIn(t, info.BuildInfo, "example.com/app")
	_, err = p.CPUProfile(soon(t), time.Second)
	wantMissing(t, err, "CPU profile", "without hone's probe", "1.23")
	finish(t, p)
	if _, missing := p.Parts(); missing["cpu"] != "the program has no probe" {
		t.Errorf("missing %q", missing)
	}
}

func TestBuildFlags(t *testing.T) {
	live.Only(t)
	dir := unpack(t, "flags")
	goenv := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(goenv, []byte("GOFLAGS='-ldflags=-X main.a=config -X main.b=config'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flags []string
		env   []string
		want  string
	}{
		"none":             {nil, nil, "none, none, none"},
		"GOFLAGS":          {nil, []string{"GOFLAGS=-ldflags=-X=main.a=goflags -tags=tagged"}, "goflags, none, tagged"},
		"GOFLAGS file":     {nil, []string{"GOFLAGS=", "GOENV=" + goenv}, "config, config, none"},
		"command line":     {[]string{"-ldflags", "-X 'main.a=x y' -s", "-tags", "tagged"}, nil, "x y, none, tagged"},
		"both":             {[]string{"--ldflags=-X main.b=line"}, []string{"GOFLAGS=-ldflags=-X=main.a=goflags"}, "none, line, none"},
		"pattern":          {[]string{"-ldflags=example.com/...=-X main.a=pattern", "-gcflags=-l"}, nil, "pattern, none, none"},
		"other's pattern":  {[]string{"-ldflags=-X main.a=mine", "-ldflags=fmt=-X main.a=fmts"}, nil, "mine, none, none"},
		"the last matches": {[]string{"-ldflags=-X main.a=first", "-ldflags=-X main.b=second"}, nil, "none, second, none"},
		"empty":            {[]string{"-ldflags="}, []string{"GOFLAGS=-ldflags=-X=main.a=goflags"}, "none, none, none"},
		"overlay":          {[]string{"-overlay=other/overlay.json"}, nil, "none, none, overlaid"},
		"overlay, GOFLAGS": {nil, []string{"GOFLAGS=-overlay=other/overlay.json"}, "none, none, overlaid"},
	} {
		t.Run(name, func(t *testing.T) {
			s := BuildSpec{Dir: dir, WorkDir: t.TempDir(), BuildFlags: c.flags, Env: c.env}
			b := mustBuild(t, s)
			says(t, b, "hello "+c.want+"\n")
			if name != "both" && name != "the last matches" {
				return
			}
			s.NoProbe = true // the go command alone builds it like this
			plain, err := Build(soon(t), s)
			if err != nil {
				t.Fatal(err)
			}
			says(t, plain, "hello "+c.want+"\n")
		})
	}
	for flag, want := range map[string]string{
		"-o x":               "-o cannot be used",
		"-C ..":              "-C cannot be used",
		"-buildmode=plugin":  "does not make a program",
		"x":                  "not a flag",
		"-tags":              "needs a value",
		"-overlay=none.json": "none.json",
	} {
		words, err := SplitFlags(flag)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(soon(t), BuildSpec{Dir: dir, WorkDir: t.TempDir(), BuildFlags: words}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flag, err, want)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	dir := unpack(t, "errors")
	work := t.TempDir()
	for _, c := range []struct {
		pkg   string
		bench bool
		want  []string
	}{
		{"./lib", false, []string{"example.com/app/lib is not a main package", "package lib", "-bench"}},
		{"lib", true, []string{"example.com/app/lib has no test files"}},
		{"./cmd/bad", false, []string{"./cmd/bad/main.go:4:2: undefined: undefined"}},
		{"./cmd/syntax", false, []string{"./cmd/syntax/main.go:4:1: syntax error"}},
		{"./cmd/missing", false, []string{"./cmd/missing/main.go:3:", "example.com/nowhere"}},
		{"./cmd/empty", false, []string{"no Go files"}},
		{"./nowhere", false, []string{"directory ./nowhere does not exist"}},
		{"./...", false, []string{"pattern"}},
		{"example.com/nowhere", false, []string{"example.com/nowhere"}},
		{"go.mod", false, []string{"neither a Go package nor a Go file"}},
		{"nowhere.go", false, []string{"nowhere.go"}},
		{"/nowhere/at/all", false, []string{"directory /nowhere/at/all does not exist"}},
	} {
		_, err := Build(soon(t), BuildSpec{Package: c.pkg, Dir: dir, Bench: c.bench, WorkDir: work, Env: []string{"GOPROXY=off"}})
		if err == nil {
			t.Errorf("%s: built", c.pkg)
			continue
		}
		wantIn(t, err.Error(), c.want...)
		if strings.Contains(err.Error(), "hone") {
			t.Errorf("%s: the error speaks of hone: %v", c.pkg, err)
		}
		var failed *BuildError
		if errors.As(err, &failed) && failed.Package != c.pkg {
			t.Errorf("the failed package is %q", failed.Package)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(work, "*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, BuildSpec{Package: "./lib", Dir: dir, WorkDir: work}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled build: %v", err)
	}
}

func TestBuildBench(t *testing.T) {
	t.Parallel()
	dir := unpack(t, "bench")
	b := mustBuild(t, BuildSpec{Dir: dir, Bench: true})
	out := filepath.Join(t.TempDir(), "out")
	p := mustStart(t, b, RunSpec{
		Args: []string{"-test.bench=Sum", "-test.run=^$", "-test.benchtime=100ms"}, Dir: b.Dir, Stdout: out,
		Collect: Collect{CPU: true},
	})
	if e := finish(t, p); e.Failure() != "" {
		t.Fatal(e.Failure())
	}
	text, _ := os.ReadFile(out)
	wantIn(t, string(text), "BenchmarkSum")
	parts, missing := p.Parts()
	if len(missing) != 0 {
		t.Fatalf("missing %q", missing)
	}
	profile := inflate(t, parts["cpu"])
	wantIn(t, profile, "lib.BenchmarkSum")
	if !IsProbeFile(ProbeFile) || IsProbeFile("main.go") || !IsProbeFile(probeTestFile) {
		t.Error("the probe's files are not known")
	}

	b = mustBuild(t, BuildSpec{Package: "./external", Dir: dir, Bench: true})
	p = mustStart(t, b, RunSpec{Args: []string{"-test.bench=.", "-test.benchtime=10x"}, Collect: Collect{CPU: true}})
	finish(t, p)
	if parts, missing := p.Parts(); parts["cpu"] == nil {
		t.Errorf("missing %q", missing)
	}
}

func TestBuildService(t *testing.T) {
	live.Only(t)
	b := mustBuild(t, BuildSpec{Dir: unpack(t, "service")})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	p := mustStart(t, b, RunSpec{Args: []string{addr}})
	if err := WaitReady(soon(t), p, addr); err != nil {
		t.Fatal(err)
	}
	info, err := p.Info(soon(t))
	for range 20 { // for a moment after each connection no goroutine waits in Accept
		if err != nil || info.Listening {
			break
		}
		time.Sleep(20 * time.Millisecond)
		info, err = p.Info(soon(t))
	}
	if err != nil || !info.Listening {
		t.Errorf("info %+v, %v", info, err)
	}
	resp, err := http.Get("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "hello service\n" {
		t.Errorf("it answers %q", body)
	}
	// The same service from outside, and its end.
	r := mustAttach(t, "http://"+addr, AttachOptions{})
	if runtime.GOOS == "linux" {
		info, err = r.Info(soon(t))
		if err != nil || info.PID != p.PID() {
			t.Errorf("info %+v, %v; want process %d", info, err, p.PID())
		}
		wantIn(t, info.BuildInfo, "example.com/service")
	}
	if err := p.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		select {
		case <-r.Done():
		case <-time.After(10 * time.Second):
			t.Error("the end of the service is not seen")
		}
	}

	// A second one at a port in use.
	l, err = net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := finish(t, mustStart(t, b, RunSpec{Args: []string{addr}}))
	wantIn(t, e.Failure(), "exit code 1", "address already in use")
}

// TestBuildStaysSmall: the probe links neither net nor libc.
func TestBuildStaysSmall(t *testing.T) {
	live.Only(t)
	if runtime.GOOS != "linux" {
		t.Skip("the executable is read as ELF")
	}
	b := mustBuild(t, BuildSpec{Dir: unpack(t, "names")})
	f, err := elf.Open(b.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) != 0 {
		t.Errorf("it needs %q, %v", libs, err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "net.") || strings.HasPrefix(s.Name, "net/") {
			t.Fatalf("it has %s", s.Name)
		}
	}
	if st, err := os.Stat(b.Path); err != nil || st.Size() > 5<<20 {
		t.Errorf("it has %d bytes", st.Size())
	}
}

// TestTheStandardLibraryIsRefusedFirst: with one message, before anything is built, whatever the
// options.
func TestTheStandardLibraryIsRefusedFirst(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(goroot)), "src", "strconv")
	for _, s := range []BuildSpec{{Package: "strconv", Bench: true}, {Package: "strconv"}, {Package: dir, Bench: true}} {
		s.WorkDir, s.Dir = t.TempDir(), t.TempDir()
		_, err := Build(t.Context(), s)
		if err == nil || !strings.HasPrefix(err.Error(), "strconv is part of the Go distribution") || !strings.Contains(err.Error(), "-cpuprofile cpu.pprof strconv`") {
			t.Errorf("%+v: %v", s, err)
		}
		if left, _ := os.ReadDir(s.WorkDir); len(left) != 0 {
			t.Errorf("%+v: something was built", s)
		}
	}
}

// TestBenchmarksByImportPath: a package can be named by its import path or its directory.
func TestBenchmarksByImportPath(t *testing.T) {
	live.Only(t)
	dir := tree(t, `
-- go.mod --
module example.com/m

go 1.23
-- join/join_test.go --
package join

import "testing"

func BenchmarkJoin(b *testing.B) {}
`)
	b := mustBuild(t, BuildSpec{Package: "example.com/m/join", Dir: dir, Bench: true})
	if b.ImportPath != "example.com/m/join" || !b.Probe {
		t.Errorf("built %+v", b)
	}
}
