package altmod

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
)

func TestNewerThan(t *testing.T) {
	all := []string{"v1.0.0", "v1.10.0", "v1.2.0", "v1.3.0-rc.1", "bad", "v2.0.0+incompatible", "v1.2.1-0.20200101000000-abcdefabcdef"}
	if got := newerThan(all, "v1.0.0"); !slices.Equal(got, []string{"v1.2.0", "v1.10.0", "v2.0.0+incompatible"}) {
		t.Errorf("newer than v1.0.0: %v", got)
	}
	if got := newerThan(all, "v1.2.1-0.20200101000000-abcdefabcdef"); !slices.Equal(got, []string{"v1.10.0", "v2.0.0+incompatible"}) {
		t.Errorf("newer than a pseudo-version: %v", got)
	}
	if got := newerThan(all, "v2.0.0+incompatible"); len(got) != 0 {
		t.Errorf("newer than the newest: %v", got)
	}
}

// fakeProxy serves the modules example.com/dep and example.com/other from files, in three versions
// and a release candidate: their constant V is the version. It returns the directory.
func fakeProxy(t *testing.T) string {
	t.Helper()
	proxy := t.TempDir()
	for _, name := range []string{"dep", "other"} {
		at := filepath.Join(proxy, "example.com", name, "@v")
		gomod := "module example.com/" + name + "\n\ngo 1.20\n"
		write(t, filepath.Join(at, "list"), "v1.0.0\nv1.1.0\nv1.2.0-rc.1\nv1.2.0\n")
		for _, v := range []string{"v1.0.0", "v1.1.0", "v1.2.0"} {
			write(t, filepath.Join(at, v+".info"), `{"Version":"`+v+`","Time":"2024-01-01T00:00:00Z"}`)
			write(t, filepath.Join(at, v+".mod"), gomod)
			writeZip(t, filepath.Join(at, v+".zip"), "example.com/"+name+"@"+v+"/",
				map[string]string{"go.mod": gomod, name + ".go": "package " + name + "\n\nconst V = \"" + v + "\"\n"})
		}
	}
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GONOSUMDB": "*", "GONOSUMCHECK": "1", "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(),
		"GOSUMDB": "off", "GOWORK": "", "GO111MODULE": "", "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
	return proxy
}

const depMod = "module example.com/dep\n\ngo 1.20\n"

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// prints builds and runs the package in a directory.
func prints(t *testing.T, dir string, b Build) string {
	t.Helper()
	cmd := exec.Command("go", slices.Concat([]string{"run"}, b.Flags, []string{"."})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), b.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run: %v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1] // the go command may print before that it downloads something
}

// files reads all files below a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAlternateGoMod chooses versions of a module with a go.mod next to the user's, which is not
// changed.
func TestAlternateGoMod(t *testing.T) {
	fakeProxy(t)
	dir, work := t.TempDir(), t.TempDir()
	const gomod = "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n"
	write(t, filepath.Join(dir, "go.mod"), gomod)
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n")
	before, ctx := files(t, dir), context.Background()
	tree, err := Open(ctx, "go", dir, work)
	if err != nil {
		t.Fatal(err)
	}
	if v, replaced, err := tree.Current(ctx, "example.com/dep"); v != "v1.0.0" || replaced || err != nil {
		t.Errorf("now %s, %t, %v", v, replaced, err)
	}
	versions, err := tree.Newer(ctx, "example.com/dep", "v1.0.0")
	if err != nil || !slices.Equal(versions, []string{"v1.1.0", "v1.2.0"}) {
		t.Errorf("newer: %v, %v", versions, err)
	}
	build, err := tree.With(ctx, "example.com/dep", "v1.2.0")
	flags := build.Flags
	if err != nil || len(flags) != 2 || flags[1] != "-mod=mod" {
		t.Fatalf("%v, %v", flags, err)
	}
	text, err := os.ReadFile(strings.TrimPrefix(flags[0], "-modfile="))
	if err != nil || !strings.Contains(string(text), "example.com/dep v1.2.0") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := tree.With(ctx, "example.com/dep", "v9.9.9"); err == nil || !strings.Contains(err.Error(), "v9.9.9") {
		t.Errorf("a version that is not there: %v", err)
	}
	if after := files(t, dir); !maps.Equal(before, after) {
		t.Errorf("the user's tree changed: %v", after)
	}
}

// TestWithAll: the versions of several modules are in one go.mod; all of them, or none.
func TestWithAll(t *testing.T) {
	proxy := fakeProxy(t)
	dir, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\ngo 1.20\n\nrequire (\n\texample.com/dep v1.0.0\n\texample.com/other v1.0.0\n)\n")
	write(t, filepath.Join(dir, "main.go"),
		"package main\n\nimport (\n\t\"example.com/dep\"\n\t\"example.com/other\"\n)\n\nfunc main() { println(dep.V, other.V) }\n")
	before := files(t, dir)
	tree, err := Open(t.Context(), "go", dir, work)
	if err != nil {
		t.Fatal(err)
	}
	all := func(dep, other string) []module.Version {
		return []module.Version{{Path: "example.com/dep", Version: dep}, {Path: "example.com/other", Version: other}}
	}
	both, err := tree.WithAll(t.Context(), all("v1.1.0", "v1.2.0"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := tree.With(t.Context(), "example.com/other", "v1.1.0")
	if err != nil {
		t.Fatal(err)
	}
	// The second go.mod neither replaces the first nor starts from it.
	if got := prints(t, dir, both); got != "v1.1.0 v1.2.0" {
		t.Errorf("with both: %q", got)
	}
	if got := prints(t, dir, one); got != "v1.0.0 v1.1.0" {
		t.Errorf("with one: %q", got)
	}
	if _, err := tree.WithAll(t.Context(), all("v1.1.0", "v9.9.9")); err == nil || !strings.Contains(err.Error(), "v9.9.9") {
		t.Errorf("a version that is not there: %v", err)
	}
	// A release of one module that requires a newer one of the other.
	const gomod = depMod + "\nrequire example.com/other v1.2.0\n"
	at := filepath.Join(proxy, "example.com", "dep", "@v", "v1.3.0")
	write(t, at+".info", `{"Version":"v1.3.0","Time":"2024-01-01T00:00:00Z"}`)
	write(t, at+".mod", gomod)
	writeZip(t, at+".zip", "example.com/dep@v1.3.0/", map[string]string{"go.mod": gomod, "dep.go": "package dep\n\nconst V = \"v1.3.0\"\n"})
	if b, err := tree.WithAll(t.Context(), all("v1.3.0", "v1.1.0")); err == nil || !strings.Contains(err.Error(), "v1.2.0") {
		t.Errorf("versions that contradict each other: %v, %v", b, err)
	}
	if after := files(t, dir); !maps.Equal(before, after) {
		t.Errorf("the user's tree changed: %v", after)
	}
}

const app = "package main\n\nimport \"example.com/dep\"\n\nfunc main() { println(dep.V) }\n"

// TestWorkspace: in a workspace, its other modules and its replacements apply to an alternate
// go.mod, too.
func TestWorkspace(t *testing.T) {
	fakeProxy(t)
	root, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "go.work"), "go 1.21\n\nuse (\n\t./app\n\t./lib\n)\n\nreplace example.com/third => ./third\n")
	write(t, filepath.Join(root, "app", "go.mod"), "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n")
	write(t, filepath.Join(root, "app", "main.go"),
		"package main\n\nimport (\n\t\"example.com/dep\"\n\t\"example.com/lib\"\n)\n\nfunc main() { println(dep.V, lib.L, lib.Third()) }\n")
	write(t, filepath.Join(root, "lib", "go.mod"), "module example.com/lib\n\ngo 1.21\n\nrequire (\n\texample.com/fourth v1.0.0\n\texample.com/third v1.0.0\n)\n\nreplace example.com/fourth => ../fourth\n")
	write(t, filepath.Join(root, "lib", "lib.go"),
		"package lib\n\nimport (\n\t\"example.com/fourth\"\n\t\"example.com/third\"\n)\n\nconst L = \"lib\"\n\nfunc Third() string { return third.T + fourth.F }\n")
	write(t, filepath.Join(root, "third", "go.mod"), "module example.com/third\n\ngo 1.20\n")
	write(t, filepath.Join(root, "third", "third.go"), "package third\n\nconst T = \"third\"\n")
	write(t, filepath.Join(root, "fourth", "go.mod"), "module example.com/fourth\n\ngo 1.20\n")
	write(t, filepath.Join(root, "fourth", "fourth.go"), "package fourth\n\nconst F = \"fourth\"\n")
	dir := filepath.Join(root, "app")
	if got := prints(t, dir, Build{}); got != "v1.0.0 lib thirdfourth" {
		t.Fatalf("as it is: %q", got)
	}
	before := files(t, root)
	tree, err := Open(t.Context(), "go", dir, work)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tree.With(t.Context(), "example.com/dep", "v1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	if got := prints(t, dir, b); got != "v1.2.0 lib thirdfourth" {
		t.Errorf("with v1.2.0: %q", got)
	}
	if !maps.Equal(before, files(t, root)) {
		t.Error("the workspace changed")
	}
}

// TestVendored: a vendor directory of the user does not prevent it.
func TestVendored(t *testing.T) {
	fakeProxy(t)
	dir, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n")
	write(t, filepath.Join(dir, "main.go"), app)
	for _, args := range [][]string{{"mod", "tidy"}, {"mod", "vendor"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	before := files(t, dir)
	tree, err := Open(t.Context(), "go", dir, work)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tree.With(t.Context(), "example.com/dep", "v1.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if got := prints(t, dir, b); got != "v1.1.0" {
		t.Errorf("with v1.1.0: %q", got)
	}
	if !maps.Equal(before, files(t, dir)) {
		t.Error("the tree changed")
	}
}

// TestReplace: a patched copy of a module is built instead of the module.
func TestReplace(t *testing.T) {
	fakeProxy(t)
	dir, work, patched := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n")
	write(t, filepath.Join(dir, "main.go"), app)
	tree, err := Open(t.Context(), "go", dir, work)
	if err != nil {
		t.Fatal(err)
	}
	source, err := tree.Source(t.Context(), "example.com/dep", "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(source, "dep.go")); err != nil || !strings.Contains(string(text), "v1.0.0") {
		t.Errorf("source: %s, %v", text, err)
	}
	write(t, filepath.Join(patched, "go.mod"), depMod)
	write(t, filepath.Join(patched, "dep.go"), "package dep\n\nconst V = \"patched\"\n")
	b, err := tree.Replace("example.com/dep", patched)
	if err != nil {
		t.Fatal(err)
	}
	if got := prints(t, dir, b); got != "patched" {
		t.Errorf("with the copy: %q", got)
	}
}

func TestRefusesNoModule(t *testing.T) {
	t.Setenv("GO111MODULE", "")
	t.Setenv("GOWORK", "off")
	if _, err := Open(t.Context(), "go", t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "in no module") {
		t.Errorf("%v", err)
	}
}
