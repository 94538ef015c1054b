package upstream

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/rewrite"
	"github.com/hone-go/hone/internal/session"
)

const dep = `package dep

import "fmt"

// Key joins.
func Key(a string, n int) string {
	return fmt.Sprintf("%s:%d", a, n)
}
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// app is a module that requires example.com/dep, which a file proxy serves. The dependency's test
// expects Key to return a text.
func app(t *testing.T, want string) string {
	t.Helper()
	proxy, dir := t.TempDir(), t.TempDir()
	at := filepath.Join(proxy, "example.com", "dep", "@v")
	write(t, filepath.Join(at, "list"), "v1.0.0\n")
	write(t, filepath.Join(at, "v1.0.0.info"), `{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`)
	const gomod = "module example.com/dep\n\ngo 1.20\n"
	write(t, filepath.Join(at, "v1.0.0.mod"), gomod)
	f, err := os.Create(filepath.Join(at, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range map[string]string{
		"go.mod": gomod, "dep.go": dep,
		"dep_test.go": "package dep\n\nimport \"testing\"\n\nfunc TestKey(t *testing.T) {\n\tif Key(\"a\", 1) != \"" + want + "\" {\n\t\tt.Error(Key(\"a\", 1))\n\t}\n}\n",
	} {
		e, err := w.Create("example.com/dep@v1.0.0/" + name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n")
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport \"example.com/dep\"\n\nfunc main() { println(dep.Key(\"a\", 1)) }\n")
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(), "GOSUMDB": "off", "GOWORK": "", "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
	return dir
}

func finding(rule string) *diagnose.Finding {
	entry := diagnose.Place{Function: "main.secret", File: "main.go", Line: 5}
	return &diagnose.Finding{Rank: 1, Rule: rule, Title: "Sprintf", Function: "example.com/dep.Key", File: "dep.go", Line: 7, Module: "example.com/dep", Version: "v1.0.0",
		Entry: &entry, Fix: "Concatenate. The line belongs to example.com/dep v1.0.0.",
		Sites: []diagnose.SiteRef{{Place: diagnose.Place{Function: "example.com/dep.Key", File: "dep.go", Line: 7}, Share: 0.2}, {Place: entry, Role: "caller"}}}
}

func TestFork(t *testing.T) {
	dir, out := app(t, "a:1"), t.TempDir()
	spec := Spec{Options: capture.Options{Dir: dir, Package: ".", Arg: "."}, Dir: out}
	cfg := session.Config{CacheDir: t.TempDir()}
	r, err := Run(t.Context(), cfg, finding("sprintf-simple"), spec)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Fork
	if f == nil || f.Left != "" || f.Tests != "pass" || !strings.Contains(f.Diff, `+	return a + ":" + strconv.Itoa(n)`) || f.Replace != "replace example.com/dep => "+f.Dir {
		t.Errorf("%+v", f)
	}
	if text, err := os.ReadFile(filepath.Join(f.Dir, "dep.go")); err != nil || strings.Contains(string(text), "fmt") {
		t.Errorf("the copy: %s, %v", text, err)
	}
	text, err := os.ReadFile(r.Issue)
	if err != nil || !strings.Contains(string(text), "strconv.Itoa") || !strings.Contains(string(text), "dep.go:7") {
		t.Errorf("the issue: %s, %v", text, err)
	}
	if strings.Contains(string(text), "secret") || strings.Contains(string(text), "belongs to") {
		t.Errorf("the issue speaks of the caller's code: %s", text)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 2 {
		t.Errorf("the tree has %d files, %v", len(names), err)
	}
	r, err = Run(t.Context(), cfg, finding("sprintf-simple"), spec)
	if err != nil || r.Fork.Left != "" || r.Fork.Diff != f.Diff || r.Fork.Tests != "pass" || r.Fork.Risk != rewrite.Judgement {
		t.Errorf("again, with the copy in place: %+v, %v", r.Fork, err)
	}
	write(t, filepath.Join(f.Dir, "dep.go"), strings.Replace(dep, "%s:%d", "%s-%d", 1))
	r, err = Run(t.Context(), cfg, finding("sprintf-simple"), spec)
	if err != nil || !strings.Contains(r.Fork.Diff, `+	return fmt.Sprintf("%s-%d", a, n)`) || !strings.Contains(r.Fork.Tests, "fail with the patch, and pass without") {
		t.Errorf("a change of the user's that breaks a test: %+v, %v", r.Fork, err)
	}
	if text, err = os.ReadFile(r.Issue); err != nil || strings.Contains(string(text), "Old and new do the same") || !strings.Contains(string(text), "%s-%d") {
		t.Errorf("the issue says that the user's change does the same: %s, %v", text, err)
	}
	if left, err := filepath.Glob(filepath.Join(cfg.CacheDir, "work", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNoFork(t *testing.T) {
	dir := app(t, "b:2")
	cfg := session.Config{CacheDir: t.TempDir()}
	spec := Spec{Options: capture.Options{Dir: dir, Package: ".", Arg: "."}, Dir: filepath.Join(t.TempDir(), "forks")}
	copied := filepath.Join(spec.Dir, "example.com_dep@v1.0.0")
	r, err := Run(t.Context(), cfg, finding("hot-mutex"), spec)
	if err != nil || !strings.Contains(r.Fork.Left, "no rewrite for hot-mutex") || !strings.Contains(r.Fork.Left, copied) || !strings.Contains(r.Workaround, "main.go:5") {
		t.Errorf("a rule without a rewrite: %+v, %v", r, err)
	}
	if text, err := os.ReadFile(filepath.Join(copied, "dep.go")); err != nil || string(text) != dep {
		t.Errorf("the copy for the user to change: %s, %v", text, err)
	}
	if _, err := os.Stat(r.Issue); err != nil {
		t.Error(err)
	}
	if r, err = Run(t.Context(), cfg, finding("hot-mutex"), spec); err != nil || !strings.Contains(r.Fork.Left, "is as the module is") {
		t.Errorf("a copy that nobody has changed: %+v, %v", r.Fork, err)
	}
	os.RemoveAll(copied)
	wrong := finding("concat-loop")
	if r, err = Run(t.Context(), cfg, wrong, spec); err != nil || r.Fork.Left == "" || r.Fork.Diff != "" {
		t.Errorf("a line that the rewrite does not know: %+v, %v", r.Fork, err)
	}
	os.RemoveAll(copied)
	if r, err = Run(t.Context(), cfg, finding("sprintf-simple"), spec); err != nil || !strings.Contains(r.Fork.Tests, "without the patch, too") {
		t.Errorf("tests that fail anyway: %+v, %v", r.Fork, err)
	}
	mine := finding("sprintf-simple")
	mine.Version = ""
	if _, err := Run(t.Context(), cfg, mine, spec); err == nil {
		t.Error("a finding in the main module")
	}
}

// TestUndo: of an interrupted copy nothing is left, and what was there before stays.
func TestUndo(t *testing.T) {
	for name, was := range map[string]string{"a new directory": "", "a directory with something else": "new/forks/other"} {
		root := t.TempDir()
		if was != "" {
			write(t, filepath.Join(root, filepath.FromSlash(was)), "x")
		}
		out := filepath.Join(root, "new", "forks")
		f := fork{made: true, dir: filepath.Join(out, "example.com_dep@v1.0.0"), parents: missing(out)}
		write(t, filepath.Join(f.dir, "dep.go"), dep)
		if err := f.undo(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(f.dir); err == nil {
			t.Errorf("%s: the copy is left", name)
		}
		if names, err := os.ReadDir(root); err != nil || (len(names) > 0) != (was != "") {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		if was != "" {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(was))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
