package gocode

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/hone-go/hone/internal/live"
)

// frame is a line that a program of testdata printed about itself.
type frame struct {
	function, file string
	line           int
}

func frames(t *testing.T, out string) []frame {
	t.Helper()
	var fs []frame
	for l := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSpace(l), "\t"); len(f) == 3 {
			n, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(err)
			}
			fs = append(fs, frame{f[0], f[1], n})
		}
	}
	return fs
}

// Real binaries in all the ways in which the compiler names files: each frame has the right owner,
// and its source line is found with the build's directory and, for files in GOROOT, also without.
func TestFramesOfRealBinaries(t *testing.T) {
	live.Only(t)
	main := Owner{Main, "example.com/app", "", "example.com/app/cmd/srv", "cmd/srv/main.go"}
	foo := Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/foo.go"}
	ext := Owner{Main, "example.com/app", "", "example.com/app/foo", "foo/ext_test.go"}
	dep := Owner{Dependency, "example.com/Dep", "", "example.com/Dep/sub", "sub/sub.go"}
	depMain := Owner{Main, "example.com/Dep", "", "example.com/Dep/sub", "sub/sub.go"}
	std := Owner{Std, "", "", "strings", "strings/strings.go"}
	for _, c := range []struct {
		name    string
		flags   []string
		prepare func(t *testing.T, dir string)
		test    bool
		want    []Owner
	}{
		{name: "absolute", want: []Owner{main, foo, dep, std}},
		{name: "trimmed", flags: []string{"-trimpath"}, want: []Owner{main, foo, dep, std}},
		{name: "vendored", prepare: vendor, want: []Owner{main, foo, dep, std}},
		{name: "vendored, trimmed", flags: []string{"-trimpath"}, prepare: vendor, want: []Owner{main, foo, dep, std}},
		{name: "workspace", prepare: workspace, want: []Owner{main, foo, depMain, std}},
		{name: "workspace, trimmed", flags: []string{"-trimpath"}, prepare: workspace, want: []Owner{main, foo, depMain, std}},
		{name: "test", test: true, want: []Owner{foo, ext}},
		{name: "test, trimmed", test: true, flags: []string{"-trimpath"}, want: []Owner{foo, ext}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.prepare != nil {
				t.Skip("builds a program")
			}
			dir := unpack(t, "frames.txtar")
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			app, bin := filepath.Join(dir, "app"), filepath.Join(t.TempDir(), "bin.exe")
			pkg, args := "./cmd/srv", []string{"build", "-o", bin}
			if c.test {
				pkg, args = "./foo", []string{"test", "-c", "-vet=off", "-o", bin}
			}
			run(t, app, "go", append(append(args, c.flags...), pkg)...)
			var out bytes.Buffer
			cmd := exec.Command(bin)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			info := buildInfo(t, bin)
			known := open(t, Config{Dir: filepath.Join(app, pkg), Test: c.test, BuildFlags: c.flags, BuildInfo: info})
			noInfo := open(t, Config{Dir: filepath.Join(app, pkg), Test: c.test, BuildFlags: c.flags})
			remote := open(t, Config{BuildInfo: info})
			fs := frames(t, out.String())
			if len(fs) != len(c.want) {
				t.Fatalf("%d frames, want %d:\n%s", len(fs), len(c.want), out.String())
			}
			for i, f := range fs {
				for name, x := range map[string]*Index{"known": known, "no build info": noInfo, "remote": remote} {
					want := c.want[i]
					if name == "no build info" && strings.HasPrefix(f.file, "example.com/Dep@") {
						want.Version = x.Owner(f.function, f.file).Version
					}
					if got := x.Owner(f.function, f.file); got != want {
						t.Errorf("%s: Owner(%q, %q) =\n %+v, want\n %+v", name, f.function, f.file, got, want)
					}
				}
				for name, x := range map[string]*Index{"known": known, "no build info": noInfo} {
					checkLine(t, name, x, f)
				}
				if c.want[i].Kind == Std {
					checkLine(t, "remote", remote, f)
				}
			}
			if after := snapshot(t, dir); after != before {
				t.Errorf("the tree has changed:\n%s\nwas:\n%s", after, before)
			}
		})
	}
}

// checkLine checks that the source of a frame is found, at the line that asked for it.
func checkLine(t *testing.T, name string, x *Index, f frame) {
	t.Helper()
	p, err := x.Source(f.file)
	if err != nil || !filepath.IsAbs(p) {
		t.Errorf("%s: Source(%q) = %q, %v", name, f.file, p, err)
		return
	}
	lines, err := x.Lines(f.file, f.line, f.line)
	if err != nil || len(lines) != 1 {
		t.Errorf("%s: Lines(%q, %d) = %q, %v", name, f.file, f.line, lines, err)
		return
	}
	if !strings.Contains(lines[0], "// frame of") && !strings.Contains(lines[0], "mapping(") {
		t.Errorf("%s: line %d of %s is %q", name, f.line, f.file, lines[0])
	}
}

func vendor(t *testing.T, dir string) { run(t, filepath.Join(dir, "app"), "go", "mod", "vendor") }

func workspace(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "go.work"), "go 1.26\n\nuse (\n\t./app\n\t./dep\n)\n")
	write(t, filepath.Join(dir, "app", "go.mod"), "module example.com/app\n\ngo 1.26\n")
}

// snapshot returns the content of a tree.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		b.WriteString("-- " + p + " --\n" + string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A module in the module cache whose path has upper case letters.
func TestSourceInTheModuleCache(t *testing.T) {
	const dep = "github.com/HdrHistogram/hdrhistogram-go"
	gomod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", gomod, nil)
	if err != nil {
		t.Fatal(err)
	}
	version := ""
	for _, r := range mod.Require {
		if r.Mod.Path == dep {
			version = r.Mod.Version
		}
	}
	if version == "" {
		t.Skip(dep + " is no longer a dependency")
	}
	for _, c := range []struct {
		name string
		cfg  Config
		file string
	}{
		{"trimmed", Config{}, dep + "@" + version + "/hdr.go"},
		{"cache of another machine", Config{}, "/elsewhere/pkg/mod/github.com/!hdr!histogram/hdrhistogram-go@" + version + "/hdr.go"},
		{"vendored elsewhere", Config{BuildInfo: "path\tx\nmod\tx\t(devel)\t\ndep\t" + dep + "\t" + version + "\th1:5VSzCYO3vSLyiLa5KRBSdxUCyNXM7lIAyyw5n3rXGwE=\n"},
			"/elsewhere/vendor/" + dep + "/hdr.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := open(t, c.cfg)
			want := Owner{Dependency, dep, version, dep, "hdr.go"}
			if got := x.Owner(dep+".(*Histogram).RecordValue", c.file); got != want {
				t.Errorf("owner %+v, want %+v", got, want)
			}
			p, err := x.Source(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(filepath.ToSlash(p), "!hdr!histogram") || !isFile(p) {
				t.Errorf("source is %s", p)
			}
		})
	}
}

func TestSourceThatIsNotThere(t *testing.T) {
	remote := open(t, Config{BuildInfo: appInfo})
	bare := open(t, Config{GoCommand: "no-such-go"})
	for _, c := range []struct {
		x    *Index
		file string
		want []string
	}{
		{remote, "/nowhere/app/foo/foo.go", []string{"/nowhere/app/foo/foo.go", "directory of the program's source is not known"}},
		{remote, "github.com/go-chi/chi@v3.3.4+incompatible/nofile.go", []string{"github.com/go-chi/chi@v3.3.4+incompatible", "go mod download"}},
		{remote, "<autogenerated>", []string{"the toolchain generates it"}},
		{bare, "runtime/proc.go", []string{"no-such-go"}},
		{bare, "", []string{"no source"}},
	} {
		_, err := c.x.Source(c.file)
		var lost *NotFoundError
		if !errors.As(err, &lost) {
			t.Errorf("Source(%q): %v", c.file, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(filepath.ToSlash(err.Error()), w) {
				t.Errorf("Source(%q): %v; want %q in it", c.file, err, w)
			}
		}
	}
	gone := open(t, Config{Dir: filepath.Join(t.TempDir(), "moved")})
	if _, err := gone.Source("runtime/proc.go"); err == nil {
		t.Error("a standard library was found without a directory to run go in")
	}
	for x, want := range map[*Index]string{bare: "no Go toolchain", gone: "source does not exist"} {
		if n := x.Notes(); len(n) != 1 || !strings.Contains(n[0], want) {
			t.Errorf("notes %q, want %q", n, want)
		}
	}
}

func TestLines(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.go")
	write(t, file, "one\r\ntwo\nthree")
	x := open(t, Config{})
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{1, 1, "one"}, {2, 3, "two three"}, {-3, 2, "one two"}, {3, 99, "three"}, {2, 1, ""},
	} {
		got, err := x.Lines(file, c.from, c.to)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("Lines(%d, %d) = %q, %v", c.from, c.to, got, err)
		}
	}
	if _, err := x.Lines(file, 4, 5); err == nil || !strings.Contains(err.Error(), "has 3 lines") {
		t.Errorf("line behind the end: %v", err)
	}
}

func TestMoved(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	ctx := context.Background()
	dir := unpack(t, `
-- go.mod --
module example.com/app
go 1.26
-- a.go --
package main

func main() {}
-- b.go --
package main
`)
	git := func(args ...string) string {
		return strings.TrimSpace(run(t, dir, "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	info := "path\texample.com/app\nmod\texample.com/app\t(devel)\t\nbuild\tvcs=git\nbuild\tvcs.revision=" +
		git("rev-parse", "HEAD") + "\nbuild\tvcs.modified=false\n"
	write(t, filepath.Join(dir, "b.go"), "package main\n\nvar x int\n")

	x := open(t, Config{Dir: dir, BuildInfo: info})
	if got := x.Moved(ctx, filepath.Join(dir, "a.go")); got != "" {
		t.Errorf("unchanged file: %s", got)
	}
	if got := x.Moved(ctx, filepath.Join(dir, "b.go")); !strings.Contains(got, "differs from revision") {
		t.Errorf("changed file: %q", got)
	}
	x = open(t, Config{Dir: dir, Built: time.Now().Add(-time.Hour)})
	if got := x.Moved(ctx, filepath.Join(dir, "a.go")); !strings.Contains(got, "after the build") {
		t.Errorf("file newer than the build: %q", got)
	}
	x = open(t, Config{Dir: dir, Built: time.Now().Add(time.Hour)})
	if got := x.Moved(ctx, filepath.Join(dir, "a.go")); got != "" {
		t.Errorf("file older than the build: %q", got)
	}
	x = open(t, Config{BuildInfo: "go\tgo1.2.3\npath\tx\n"})
	if got := x.Moved(ctx, "runtime/proc.go"); !strings.Contains(got, "go1.2.3") {
		t.Errorf("another Go: %q", got)
	}
}
