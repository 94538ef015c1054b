package site_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// TestBuilds builds, runs and joins one program in all the ways in which programs are built. In
// each of them, costs end at their owners, lines of the main module are entries, and the compiler
// can be asked.
func TestBuilds(t *testing.T) {
	live.Only(t)
	replaced := func(t *testing.T, dir string) { goIn(t, dir, "mod", "edit", "-replace=example.com/dep=../dep") }
	for _, tc := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		flags   []string
		kind    gocode.Kind // of dep
		version string      // of dep
	}{
		{name: "replaced by a directory", prepare: replaced, kind: gocode.Dependency},
		{name: "trimpath", prepare: replaced, flags: []string{"-trimpath"}, kind: gocode.Dependency},
		{name: "module cache", prepare: cached, flags: []string{"-mod=mod"}, kind: gocode.Dependency, version: "v1.2.3"},
		{name: "module cache and trimpath", prepare: cached, flags: []string{"-trimpath"}, kind: gocode.Dependency, version: "v1.2.3"},
		{name: "vendored", prepare: func(t *testing.T, dir string) {
			cached(t, dir)
			goIn(t, dir, "mod", "vendor")
		}, kind: gocode.Dependency, version: "v1.2.3"},
		{name: "workspace", prepare: func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "..", "go.work"), "go 1.25\n\nuse (\n\t./app\n\t./dep\n)\n")
		}, kind: gocode.Main},
		{name: "profile-guided", prepare: func(t *testing.T, dir string) {
			replaced(t, dir)
			write(t, filepath.Join(dir, "default.pgo"), hotProfile(t))
		}, kind: gocode.Dependency},
		{name: "assembly", prepare: func(t *testing.T, dir string) {
			if runtime.GOARCH != "amd64" {
				t.Skip("the assembly is for amd64")
			}
			replaced(t, dir)
		}, flags: []string{"-tags=asmspin"}, kind: gocode.Dependency},
		{name: "cgo", prepare: func(t *testing.T, dir string) {
			if _, err := exec.LookPath("gcc"); err != nil {
				t.Skip("needs a C compiler")
			}
			t.Setenv("CGO_ENABLED", "1")
			replaced(t, dir)
		}, flags: []string{"-tags=cgospin"}, kind: gocode.Dependency},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := unpack(t)
			dir := filepath.Join(root, "app")
			t.Setenv("GOPROXY", "off")
			t.Setenv("GOFLAGS", "")
			tc.prepare(t, dir)
			before := tree(t, root)
			table, code := runAndJoin(t, dir, tc.flags)
			checkJoined(t, table)
			facts, err := code.Facts(t.Context(), []string{"example.com/app", "example.com/app/inner", "example.com/dep"})
			if err != nil {
				t.Fatal(err)
			}
			if _, lacking := facts.Packages(); len(lacking) > 0 {
				t.Errorf("no facts: %v", lacking)
			}
			places := marked(t, root)
			for _, name := range []string{"method", "generic", "inlined", "closure", "inner", "dep", "spin"} {
				s := siteAt(table, places[name])
				if s == nil {
					t.Errorf("%s: no cost at %v", name, places[name])
					continue
				}
				checkOwner(t, name, s, tc.kind, tc.version)
				if name == "dep" && (s.Entry == nil || s.Entry.Line != places["entry"].line) {
					t.Errorf("dep: entry %+v, want line %d", s.Entry, places["entry"].line)
				}
				if name != "spin" && !escapes(facts.On(s.File, s.Line)) {
					t.Errorf("%s: the compiler's reason is not known: %v", name, facts.On(s.File, s.Line))
				}
			}
			if after := tree(t, root); !slices.Equal(before, after) {
				t.Errorf("the tree or the module cache was touched:\n%v\n%v", before, after)
			}
			if t.Failed() {
				t.Log(code.Notes())
				for _, s := range table.Sites {
					t.Logf("%s %s:%d %v: %d samples, %d bytes", s.Function, s.File, s.Line, s.Owner, s.Cost.Samples, s.Cost.AllocBytes)
				}
			}
		})
	}
}

func checkJoined(t *testing.T, table *site.Table) {
	t.Helper()
	j := table.Joined()
	if j.CPU == nil || j.Bytes == nil {
		t.Fatal("nothing was profiled")
	}
	t.Logf("joined: %.1f %% of CPU, %.1f %% of bytes; %d of %d samples with their entry", 100*j.CPU.Share(), 100*j.Bytes.Share(), j.EntrySamples, j.MainSamples)
	if j.CPU.Share() < 0.95 || j.Bytes.Share() < 0.95 {
		t.Errorf("not joined: %v", j.Unjoined)
	}
	if j.MainSamples == 0 || j.EntrySamples != j.MainSamples {
		t.Errorf("%d of %d samples have their entry", j.EntrySamples, j.MainSamples)
	}
}

func checkOwner(t *testing.T, name string, s *site.Site, depKind gocode.Kind, version string) {
	t.Helper()
	want := gocode.Owner{Kind: gocode.Main, Module: "example.com/app", Package: "example.com/app", File: s.Owner.File}
	switch name {
	case "inner":
		want.Package = "example.com/app/inner"
	case "dep":
		want = gocode.Owner{Kind: depKind, Module: "example.com/dep", Version: version, Package: "example.com/dep", File: "dep.go"}
	}
	if s.Owner != want {
		t.Errorf("%s: owner %+v, want %+v", name, s.Owner, want)
	}
}

func escapes(facts []gocode.Fact) bool {
	return slices.ContainsFunc(facts, func(f gocode.Fact) bool { kind, _ := f.Words(); return kind == "escape" })
}

// runAndJoin builds the program in dir with hone's probe, runs it and joins its profiles.
func runAndJoin(t *testing.T, dir string, flags []string) (*site.Table, *gocode.Index) {
	t.Helper()
	work := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	bin, err := target.Build(ctx, target.BuildSpec{Package: ".", Dir: dir, BuildFlags: flags, WorkDir: work})
	if err != nil {
		t.Fatal(err)
	}
	p, err := bin.Start(ctx, target.RunSpec{Collect: target.Collect{CPU: true, Allocs: true}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if why := p.Exit().Failure(); why != "" {
		t.Fatal(why)
	}
	parts, missing := p.Parts()
	decode := func(name string) *profile.Profile {
		if parts[name] == nil {
			t.Fatalf("no %s profile: %s", name, missing[name])
		}
		prof, err := profile.Decode(bytes.NewReader(parts[name]), 0)
		if err != nil {
			t.Fatal(err)
		}
		return prof
	}
	allocs, err := profile.Subtract(decode("heap.end"), decode("heap.start"), profile.Subtraction{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := goOutput(dir, "version", "-m", bin.Path)
	if err != nil {
		t.Fatal(err)
	}
	code, err := gocode.Open(ctx, gocode.Config{
		Dir: bin.Dir, ImportPath: bin.ImportPath, BuildFlags: flags, BuildInfo: buildInfo(info), CacheDir: filepath.Join(work, "cache"),
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := site.Join(ctx, site.Input{CPU: decode("cpu"), Allocs: allocs, Code: code})
	if err != nil {
		t.Fatal(err)
	}
	return table, code
}

// buildInfo extracts the text of debug.BuildInfo from the output of go version -m.
func buildInfo(text string) string {
	head, rest, _ := strings.Cut(text, "\n")
	version := head[strings.LastIndexByte(head, ' ')+1:]
	return "go\t" + version + "\n" + strings.ReplaceAll(rest, "\n\t", "\n")[1:]
}

// cached puts dep v1.2.3 into a module cache of its own, below the test's directory.
func cached(t *testing.T, dir string) {
	t.Helper()
	root := filepath.Dir(dir)
	proxy := filepath.Join(root, "proxy", "example.com", "dep", "@v")
	if err := os.MkdirAll(proxy, 0o755); err != nil {
		t.Fatal(err)
	}
	var zip bytes.Buffer
	if err := modzip.CreateFromDir(&zip, module.Version{Path: "example.com/dep", Version: "v1.2.3"}, filepath.Join(root, "dep")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(proxy, "v1.2.3.zip"), zip.String())
	write(t, filepath.Join(proxy, "v1.2.3.mod"), "module example.com/dep\n\ngo 1.25\n")
	write(t, filepath.Join(proxy, "v1.2.3.info"), `{"Version":"v1.2.3"}`)
	t.Setenv("GOMODCACHE", filepath.Join(root, "modcache"))
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(filepath.Join(root, "proxy")))
	goIn(t, dir, "mod", "tidy")
	t.Setenv("GOPROXY", "off")
}

// hotProfile is a profile for the compiler in which dep.Frame is hot; it is the same each time, so
// that what is compiled with it stays in the build cache.
func hotProfile(t *testing.T) string {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{
		{Function: "example.com/dep.Frame", File: "dep.go", Line: 5, StartLine: 4},
		{Function: "main.main", File: "main.go", Line: 54, StartLine: 39},
	}, 1000, 1e10)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type position struct {
	file string // base name
	line int
}

// marked returns the lines with a "SITE name", by name; for spin, those of the files that could
// contain it.
func marked(t *testing.T, root string) map[string]position {
	t.Helper()
	at := map[string]position{}
	for _, dir := range []string{"app", "app/inner", "dep"} {
		files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, ".pgo") {
				continue
			}
			for i, line := range strings.Split(string(text), "\n") {
				if _, name, ok := strings.Cut(line, "// SITE "); ok && name != "spin" {
					at[name] = position{filepath.Base(file), i + 1}
				}
			}
		}
	}
	return at
}

// siteAt returns the most expensive site of a line, or without a line, of the function spin.
func siteAt(table *site.Table, at position) *site.Site {
	for _, s := range table.Sites {
		if at.file == "" && s.Function == "main.spin" || filepath.Base(s.File) == at.file && s.Line == at.line {
			return s
		}
	}
	return nil
}

func unpack(t *testing.T) string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "builds.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		write(t, filepath.Join(root, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return root
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func goOutput(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func goIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := goOutput(dir, args...); err != nil {
		t.Fatal(err)
	}
}

// tree lists all files with sizes and modification times, to detect any change.
func tree(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && !strings.Contains(path, filepath.Join("modcache", "cache")) { // locks and the like
			files = append(files, fmt.Sprint(path, info.Size(), info.ModTime().UnixNano()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
