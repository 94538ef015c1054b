package tunedeps

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dependent returns the directory of a module that requires v1.0.0 of example.com/dep. A proxy of
// files also has v1.1.0.
func dependent(t *testing.T) string {
	t.Helper()
	source, proxy, dir := t.TempDir(), t.TempDir(), t.TempDir()
	const gomod = "module example.com/dep\n\ngo 1.20\n"
	write(t, filepath.Join(source, "go.mod"), gomod)
	write(t, filepath.Join(source, "dep.go"), "package dep\n\nfunc F() {}\n")
	at := filepath.Join(proxy, "example.com", "dep", "@v")
	write(t, filepath.Join(at, "list"), "v1.0.0\nv1.1.0\n")
	for _, v := range []string{"v1.0.0", "v1.1.0"} {
		write(t, filepath.Join(at, v+".info"), `{"Version":"`+v+`","Time":"2024-01-01T00:00:00Z"}`)
		write(t, filepath.Join(at, v+".mod"), gomod)
		f, err := os.Create(filepath.Join(at, v+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := zip.CreateFromDir(f, module.Version{Path: "example.com/dep", Version: v}, source); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n")
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport \"example.com/dep\"\n\nfunc main() { dep.F() }\n")
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(), "GOSUMDB": "off", "GOWORK": "off", "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
	return dir
}

// TestRequire: go.mod requires the versions that were found; if that fails, no file has changed.
func TestRequire(t *testing.T) {
	dir := dependent(t)
	mod := filepath.Join(dir, "go.mod")
	before, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	unchanged := func(what string) {
		t.Helper()
		text, err := os.ReadFile(mod)
		if _, serr := os.Stat(filepath.Join(dir, "go.sum")); err != nil || string(text) != string(before) || serr == nil {
			t.Errorf("%s: go.mod is %s, go.sum %v", what, text, serr)
		}
	}
	found := func(version string) []Module {
		return []Module{{Path: "example.com/other"}, {Path: "example.com/dep", Cure: &Cure{Version: version}}}
	}
	if err := require(t.Context(), dir, found("v1.9.9")); err == nil || !strings.Contains(err.Error(), "v1.9.9") {
		t.Errorf("a version that does not exist: %v", err)
	}
	unchanged("a version that does not exist")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := require(over, dir, found("v1.1.0")); err == nil {
		t.Error("no error after an interrupt")
	}
	unchanged("interrupted")
	if err := require(t.Context(), dir, []Module{{Path: "example.com/dep"}}); err != nil {
		t.Errorf("no version was found: %v", err)
	}
	unchanged("no version was found")
	modules := found("v1.1.0")
	if err := require(t.Context(), dir, modules); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(mod); err != nil || !strings.Contains(string(text), "example.com/dep v1.1.0") || !modules[1].Required || modules[0].Required {
		t.Errorf("go.mod is %s, %v; %+v", text, err, modules)
	}
}

// TestRemember: files get their contents back, and those that were not there are removed.
func TestRemember(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "1")
	restore, err := remember(a, b)
	if err != nil {
		t.Fatal(err)
	}
	write(t, a, "2")
	write(t, b, "2")
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(a); err != nil || string(text) != "1" {
		t.Errorf("a is %s, %v", text, err)
	}
	if _, err := os.Stat(b); err == nil {
		t.Error("b is left")
	}
}
