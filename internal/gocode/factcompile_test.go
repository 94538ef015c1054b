package gocode

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/hone-go/hone/internal/live"
)

// compilations counts the runs of the compiler through -toolexec.
func compilations(t *testing.T, log string) int {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

func TestMain(m *testing.M) {
	// As a -toolexec: note that a compiler ran, then run it.
	if log := os.Getenv("GOCODE_TEST_TOOLEXEC"); log != "" && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		tool := os.Args[1]
		if strings.TrimSuffix(filepath.Base(tool), ".exe") == "compile" && !slices.Contains(os.Args, "-V=full") {
			fd, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err == nil {
				fd.WriteString("compile\n")
				fd.Close()
			}
		}
		cmd := exec.Command(tool, os.Args[2:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if cmd.Run() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The second time nothing is compiled. An edited source is compiled again, but not when the edit is
// undone: then the cache has the facts.
func TestFactsCache(t *testing.T) {
	dir := unpack(t, `
-- go.mod --
module example.com/small
go 1.26
-- s.go --
package small

func F(n int) *int { return &n }
`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "compilations")
	t.Setenv("GOCODE_TEST_TOOLEXEC", log)
	cache := t.TempDir()
	facts := func(x *Index) map[string]bool {
		t.Helper()
		f, err := x.Facts(context.Background(), []string{"example.com/small"})
		if err != nil {
			t.Fatal(err)
		}
		if _, lacking := f.Packages(); len(lacking) > 0 {
			t.Fatalf("lacking %v", lacking)
		}
		messages := map[string]bool{}
		for line := range 10 {
			for _, fact := range f.At(filepath.Join(dir, "s.go"), line) {
				messages[fact.Message] = true
			}
		}
		return messages
	}
	cfg := Config{Dir: dir, ImportPath: "example.com/small", CacheDir: cache, BuildFlags: []string{"-toolexec", self}}
	x := open(t, cfg)
	first := facts(x)
	if !first["moved to heap: n"] {
		t.Fatalf("facts %v", first)
	}
	n := compilations(t, log)
	if n == 0 {
		t.Fatal("the first call compiled nothing: the test does not see compilations")
	}
	if again := facts(x); !maps.Equal(first, again) || compilations(t, log) != n {
		t.Errorf("second call: %d compilations more, facts %v, want %v", compilations(t, log)-n, again, first)
	}
	if again := facts(open(t, cfg)); !maps.Equal(first, again) || compilations(t, log) != n {
		t.Errorf("new index: %d compilations more, facts %v", compilations(t, log)-n, again)
	}
	src := filepath.Join(dir, "s.go")
	old, _ := os.ReadFile(src)
	write(t, src, "package small\n\nfunc F(m int) *int { return &m }\n")
	if edited := facts(x); !edited["moved to heap: m"] || edited["moved to heap: n"] {
		t.Errorf("after the edit: %v", edited)
	}
	write(t, src, string(old))
	n = compilations(t, log)
	if back := facts(x); !maps.Equal(first, back) || compilations(t, log) != n {
		t.Errorf("edited back: %d compilations more, facts %v", compilations(t, log)-n, back)
	}
	// A removed cache must not be restored empty from the go command's own cache.
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if again := facts(x); !maps.Equal(first, again) {
		t.Errorf("after the cache was removed: %v", again)
	}
	// A damaged file counts as missing.
	names, _ := filepath.Glob(filepath.Join(cache, "facts", "*.gz"))
	for _, name := range names {
		write(t, name, "not gzip")
	}
	if again := facts(x); !maps.Equal(first, again) {
		t.Errorf("after the cache was damaged: %v", again)
	}
	left, _ := filepath.Glob(filepath.Join(cache, "facts", "log-*"))
	if len(left) > 0 {
		t.Errorf("log directories are left: %v", left)
	}
}

// The log of a foreign file can overwrite that of a file with the same base name. Then the text log
// is used.
func TestFactsOfAClobberedFile(t *testing.T) {
	dir := unpack(t, `
-- go.mod --
module example.com/same
go 1.26
-- a/same.go --
package a

func Box[T any](v T) *T { return &v }
-- same.go --
package same

import "example.com/same/a"

var Sink any

func F(n int) { Sink = n } // boxed

func G() { Sink = a.Box("x") } // instantiated
-- other.go --
package same

func H(n int) *int { return &n } // other
`)
	ctx := context.Background()
	x := open(t, Config{Dir: dir, ImportPath: "example.com/same", CacheDir: t.TempDir()})
	logs := filepath.Join(t.TempDir(), "logs")
	write(t, filepath.Join(logs, "example.com%2Ftwins", "same.json"),
		`{"version":0,"package":"example.com/same","file":"`+filepath.ToSlash(filepath.Join(dir, "a", "same.go"))+`"}
{"range":{"start":{"line":3,"character":17}},"code":"nilcheck"}
`)
	units, err := x.units(ctx, []string{"example.com/same"}, false)
	if err != nil {
		t.Fatal(err)
	}
	u := units["example.com/same"]
	facts, clobbered, err := x.readLogs(logs, u)
	if err != nil || len(facts) != 1 || len(clobbered) != 1 || !clobbered["same.go"] {
		t.Fatalf("%d facts, clobbered %v, %v; want one fact and same.go", len(facts), clobbered, err)
	}
	facts, err = x.compileText(ctx, u, false, clobbered)
	if err != nil {
		t.Fatal(err)
	}
	tab := newTable(u.ImportPath)
	for _, f := range facts {
		if f.Chain[0].File != filepath.Join(dir, "same.go") {
			t.Errorf("a fact about %s", f.Chain[0].File)
		}
		tab.add(f)
	}
	f := &Facts{index: x, files: map[string][]*factFile{}}
	f.add(tab.facts)
	file := filepath.Join(dir, "same.go")
	for mark, want := range map[string]string{"// boxed": "n escapes to heap", "// instantiated": "moved to heap: a.v"} {
		// The chain is longer than the text log shows.
		got := f.AtChain([]Pos{{File: file, Line: lineOf(t, file, mark)}, {File: "a/same.go", Line: 3}})
		if !slices.ContainsFunc(got, func(f Fact) bool { return f.Message == want && len(f.Flow) > 0 }) {
			t.Errorf("%s: no %q in %+v", mark, want, got)
		}
	}
}

// cgo rewrites files: the log has the lines of its output, the text those of the source.
func TestFactsOfCgo(t *testing.T) {
	live.Only(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler")
	}
	dir := unpack(t, `
-- go.mod --
module example.com/cg
go 1.26
-- main.go --
package main

import (
	// static int add(int a, int b) { return a + b; }
	"C"
	"fmt"
)

var sink any

func esc(n int) { sink = n } // esc

func main() {
	fmt.Println(C.add(1, 2))
	esc(1)
}
`)
	for _, flags := range [][]string{nil, {"-trimpath"}} {
		x := open(t, Config{Dir: dir, CacheDir: t.TempDir(), BuildFlags: append(flags, "-tags=x")})
		f, err := x.Facts(context.Background(), []string{"example.com/cg"})
		if err != nil {
			t.Fatal(err)
		}
		if _, lacking := f.Packages(); len(lacking) > 0 {
			t.Skipf("cgo does not work here: %v", lacking)
		}
		file := filepath.Join(dir, "main.go")
		facts := f.At(file, lineOf(t, file, "// esc"))
		if !slices.ContainsFunc(facts, func(f Fact) bool { return f.Message == "n escapes to heap" }) {
			t.Errorf("%v: facts %+v", flags, facts)
		}
		s, err := x.Syntax(context.Background(), []string{"example.com/cg"})
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := s.At("example.com/cg/main.go", lineOf(t, file, "fmt.Println")); !ok || p.CalleeName(p.Calls()[0]) != "fmt.Println" {
			_, lacking := s.Packages()
			t.Errorf("%v: syntax of a cgo file: %v, lacking %v", flags, ok, lacking)
		}
	}
}

// The user's compiler flags are kept, and those without a pattern apply to the target's package
// only.
func TestFactsKeepTheUsersFlags(t *testing.T) {
	live.Only(t)
	dir := unpack(t, "allocs.txtar")
	app := filepath.Join(dir, "app")
	can := func(flag string) bool {
		x := open(t, Config{Dir: filepath.Join(app, "cmd", "run"), ImportPath: "example.com/app/cmd/run",
			BuildFlags: []string{"-gcflags", flag}, CacheDir: t.TempDir()})
		f, err := x.Facts(context.Background(), []string{"example.com/app/in"})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(app, "in", "in.go")
		return slices.ContainsFunc(f.At(file, lineOf(t, file, "func Index")), func(f Fact) bool { return f.Code == "canInlineFunction" })
	}
	if !can("-l") {
		t.Error("-gcflags=-l of the main package has come to another package")
	}
	if can("all=-l") {
		t.Error("-gcflags=all=-l is lost")
	}
	if can("example.com/app/...=-l") {
		t.Error("-gcflags=example.com/app/...=-l is lost")
	}
}

// If a binary was optimized with a profile, the facts of its dependencies are compiled with that
// profile, too.
func TestFactsWithAProfile(t *testing.T) {
	dir := unpack(t, "allocs.txtar")
	app := filepath.Join(dir, "app")
	if err := os.MkdirAll(filepath.Join(app, "pgo"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A CPU profile with a hot call, which the compiler inlines beyond its usual budget, and one
	// that is less hot. There are no imports, because with a profile all of them are compiled
	// again.
	src := filepath.Join(app, "pgo", "pgo.go")
	write(t, src, `package pgo

func hot(n int) int {
	n += `+strings.Repeat("n*n + ", 60)+`1
	return n
}

func warm(n int) int { return n + 1 }

func Call(n int) int { return hot(n) + warm(n) }
`)
	fn := func(id uint64, name string) *profile.Function {
		name = "example.com/app/pgo." + name
		return &profile.Function{ID: id, Name: name, SystemName: name, Filename: src,
			StartLine: int64(lineOf(t, src, "func "+path.Ext(name)[1:]))}
	}
	call, hot, warm := fn(1, "Call"), fn(2, "hot"), fn(3, "warm")
	at := func(id uint64, f *profile.Function) *profile.Location {
		return &profile.Location{ID: id, Line: []profile.Line{{Function: f, Line: f.StartLine}}}
	}
	locs := []*profile.Location{at(1, call), at(2, hot), at(3, warm)}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{locs[1], locs[0]}, Value: []int64{900, 9e9}},
			{Location: []*profile.Location{locs[2], locs[0]}, Value: []int64{100, 1e9}},
		},
		Location: locs, Function: []*profile.Function{call, hot, warm},
	}
	pgo := filepath.Join(dir, "cpu.pgo")
	fd, err := os.Create(pgo)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(fd); err != nil {
		t.Fatal(err)
	}
	if err := fd.Close(); err != nil {
		t.Fatal(err)
	}
	for info, want := range map[string]bool{"": false, "path\texample.com/app/cmd/run\nbuild\t-pgo=" + pgo + "\n": true} {
		x := open(t, Config{Dir: filepath.Join(app, "cmd", "run"), CacheDir: t.TempDir(), BuildInfo: info})
		f, err := x.Facts(context.Background(), []string{"example.com/app/pgo"})
		if err != nil {
			t.Fatal(err)
		}
		if _, lacking := f.Packages(); len(lacking) > 0 {
			t.Fatal(lacking)
		}
		facts := f.At(src, int(hot.StartLine))
		got := slices.ContainsFunc(facts, func(f Fact) bool { return f.Code == "canInlineFunction" })
		if got != want {
			t.Errorf("with build info %q: hot can be inlined: %v; facts %+v", info, got, facts)
		}
	}
}

func TestFactsThatAreNotAvailable(t *testing.T) {
	dir := unpack(t, `
-- go.mod --
module example.com/bad
go 1.26
-- b.go --
package bad

func f() string { return 1 }
`)
	ctx := context.Background()
	for _, c := range []struct {
		name string
		cfg  Config
		why  string
	}{
		{"type error", Config{Dir: dir}, "cannot use 1"},
		{"no directory", Config{}, "not known"},
		{"directory gone", Config{Dir: filepath.Join(dir, "gone")}, "no such directory"},
		{"no toolchain", Config{Dir: dir, GoCommand: "no-such-go"}, "no-such-go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.CacheDir = t.TempDir()
			f, err := open(t, c.cfg).Facts(ctx, []string{"example.com/bad"})
			if err != nil {
				t.Fatal(err)
			}
			if _, lacking := f.Packages(); !strings.Contains(lacking["example.com/bad"], c.why) {
				t.Errorf("lacking %q, want %q", lacking, c.why)
			}
		})
	}
	ctx, cancel := context.WithCancel(ctx)
	x := open(t, Config{Dir: dir, CacheDir: t.TempDir()})
	cancel()
	if _, err := x.Facts(ctx, []string{"example.com/bad"}); err == nil {
		t.Error("no error from a cancelled context")
	}
}

func TestPruneFacts(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i := range 12 {
		name := filepath.Join(dir, fmt.Sprintf("%02d.gob.gz", i))
		write(t, name, "")
		if err := os.Chtimes(name, now, now.Add(time.Duration(i-100)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "log-old", "x"), "")
	write(t, filepath.Join(dir, "log-new", "x"), "")
	if err := os.Chtimes(filepath.Join(dir, "log-old"), now, now.Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, e := range list {
			b.WriteString(strings.TrimSuffix(e.Name(), ".gob.gz") + " ")
		}
		return strings.TrimSpace(b.String())
	}
	pruneFacts(dir, 12)
	if got := names(); got != "00 01 02 03 04 05 06 07 08 09 10 11 log-new" {
		t.Errorf("left: %s", got)
	}
	pruneFacts(dir, 8)
	if got := names(); got != "06 07 08 09 10 11 log-new" {
		t.Errorf("left: %s", got)
	}
}
