package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/hone-go/hone/internal/live"
)

// A dependency that formats with Sprintf, for which hone has a rewrite, and a program that calls it
// often.
const (
	dependencyMod = "module example.com/dep\n\ngo 1.24\n"
	dependency    = "package dep\n\nimport \"fmt\"\n\n// Key joins.\nfunc Key(a string, n int) string {\n\treturn fmt.Sprintf(\"%s:%d\", a, n)\n}\n"
	dependent     = "package main\n\nimport \"example.com/dep\"\n\nfunc main() {\n\tn := 0\n\tfor i := range 3_000_000 {\n\t\tn += len(dep.Key(\"key\", i))\n\t}\n\tprintln(n)\n}\n"
)

// TestInterruptFork: after an interrupted `hone fix -fork`, there is neither a part of a copy nor a
// directory for copies.
func TestInterruptFork(t *testing.T) {
	live.Only(t)
	s := newInterrupted(t)
	serveDependency(t, "v1.0.0", "v1.1.0")
	s.git(t, "rm", "-q", "-r", ".")
	writeFile(t, filepath.Join(s.tree, "go.mod"), "module example.com/app\n\ngo 1.24\n\nrequire example.com/dep v1.0.0\n")
	writeFile(t, filepath.Join(s.tree, "main.go"), dependent)
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = s.tree
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.git(t, "add", "-A")
	s.git(t, "commit", "-q", "-m", "a dependency")
	rec := filepath.Join(t.TempDir(), "rec.hone")
	record := exec.Command(s.hone, "run", ".", "-o", rec, "-duration", "8s")
	record.Dir, record.Env = s.tree, append(os.Environ(), "HONE_CACHE="+s.cache)
	if out, err := record.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, args := range map[string][]string{"patch": nil, "try": {"-try", "-duration", "1s", "-runs", "2"}} {
		t.Run(name, func(t *testing.T) {
			for i, scale := range []float64{0.3, 1, 2, 4, 8, 16} {
				forks := filepath.Join(t.TempDir(), "new", "forks")
				after := time.Duration((0.05 + rand.Float64()*scale) * float64(time.Second))
				finished := s.interrupt(t, slices.Concat([]string{"fix", rec, "1", "-fork", forks}, args), after, i%2 == 0)
				if _, err := os.Stat(filepath.Dir(forks)); err == nil && !finished {
					left, _ := filepath.Glob(filepath.Join(forks, "*"))
					t.Errorf("interrupted after %v: it leaves %v in %s", after, left, forks)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	// Without an interruption, the same command patches a copy.
	forks := filepath.Join(t.TempDir(), "forks")
	whole := exec.Command(s.hone, "fix", rec, "1", "-fork", forks)
	whole.Dir, whole.Env = s.tree, append(os.Environ(), "HONE_CACHE="+s.cache)
	out, err := whole.CombinedOutput()
	text, rerr := os.ReadFile(filepath.Join(forks, "example.com_dep@v1.0.0", "dep.go"))
	if err != nil || rerr != nil || string(text) == dependency {
		t.Errorf("the copy is not patched: %v, %v\n%s", err, rerr, out)
	}
}

// serveDependency makes versions of the dependency available through a proxy of files.
func serveDependency(t *testing.T, versions ...string) {
	t.Helper()
	source, proxy := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(source, "go.mod"), dependencyMod)
	writeFile(t, filepath.Join(source, "dep.go"), dependency)
	at := filepath.Join(proxy, "example.com", "dep", "@v")
	list := ""
	for _, v := range versions {
		list += v + "\n"
		writeFile(t, filepath.Join(at, v+".info"), `{"Version":"`+v+`","Time":"2024-01-01T00:00:00Z"}`)
		writeFile(t, filepath.Join(at, v+".mod"), dependencyMod)
		f, err := os.Create(filepath.Join(at, v+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := zip.CreateFromDir(f, module.Version{Path: "example.com/dep", Version: v}, source); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(at, "list"), list)
	for name, value := range map[string]string{
		"GOPROXY": "file://" + proxy, "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(), "GOSUMDB": "off", "GOWORK": "off", "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
