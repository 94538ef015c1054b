package tunedeps

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/session"
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

func TestChoose(t *testing.T) {
	shares := map[string]*Module{}
	for path, m := range map[string]Module{"a": {Share: 0.04}, "b": {Share: 0.06}, "c": {ByteShare: 0.5}, "d": {Share: 0.2}, "e": {Share: 0.1, ByteShare: 0.07}} {
		m.Path = path
		shares[path] = &m
	}
	paths := func(ms []Module) (out []string) {
		for _, m := range ms {
			out = append(out, m.Path)
		}
		return out
	}
	if got := paths(choose(shares, nil)); !slices.Equal(got, []string{"c", "d", "e"}) {
		t.Errorf("unasked: %v", got)
	}
	if got := paths(choose(shares, []string{"a", "none"})); !slices.Equal(got, []string{"a", "none"}) {
		t.Errorf("named: %v", got)
	}
}

func TestSaved(t *testing.T) {
	ratio := func(x float64) *float64 { return &x }
	c := &compare.Comparison{Rows: []compare.Row{
		{Metric: "cpu", Old: 1, New: 0.5, Ratio: ratio(0.5), Verdict: compare.Unknown},
		{Metric: "allocated", Old: 1, New: 0.9, Ratio: ratio(0.9), Verdict: compare.Better},
		{Metric: "allocations", Old: 1, New: 0.7, Ratio: ratio(0.7), Verdict: compare.Better},
		{Metric: "latency p99", Old: 1, New: 0.1, Ratio: ratio(0.1), Verdict: compare.Better},
		{Metric: "wall", Old: 1, New: 1.5, Ratio: ratio(1.5), Verdict: compare.Worse},
	}}
	if got := saved(c); got == nil || got.Metric != "allocations" {
		t.Errorf("%+v", got)
	}
	if got := saved(&compare.Comparison{Rows: c.Rows[:1]}); got != nil {
		t.Errorf("what is unknown is saved: %+v", got)
	}
}

// TestAlternateGoMod builds nothing: it chooses versions of a module with a go.mod beside the user's, which stays as it is.
func TestAlternateGoMod(t *testing.T) {
	dir, work, proxy := t.TempDir(), t.TempDir(), t.TempDir()
	// A proxy of files: a module with three versions.
	at := filepath.Join(proxy, "example.com", "dep", "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(at, "list"), "v1.0.0\nv1.1.0\nv1.2.0-rc.1\nv1.2.0\n")
	for _, v := range []string{"v1.0.0", "v1.1.0", "v1.2.0"} {
		write(filepath.Join(at, v+".info"), `{"Version":"`+v+`","Time":"2024-01-01T00:00:00Z"}`)
		write(filepath.Join(at, v+".mod"), "module example.com/dep\n\ngo 1.20\n")
		writeZip(t, filepath.Join(at, v+".zip"), "example.com/dep@"+v+"/", map[string]string{"go.mod": "module example.com/dep\n\ngo 1.20\n", "dep.go": "package dep\n"})
	}
	const gomod = "module example.com/app\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n"
	write(filepath.Join(dir, "go.mod"), gomod)
	write(filepath.Join(dir, "main.go"), "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n")
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GONOSUMDB": "*", "GONOSUMCHECK": "1", "GOFLAGS": "-modcacherw", "GOMODCACHE": t.TempDir(), "GOSUMDB": "off", "GOWORK": "off",
	} {
		t.Setenv(name, value)
	}
	ctx := context.Background()
	tree, err := openTree(ctx, "go", dir, work)
	if err != nil {
		t.Fatal(err)
	}
	if v, replaced, err := tree.current(ctx, "example.com/dep"); v != "v1.0.0" || replaced || err != nil {
		t.Errorf("now %s, %t, %v", v, replaced, err)
	}
	versions, err := tree.newer(ctx, "example.com/dep", "v1.0.0")
	if err != nil || !slices.Equal(versions, []string{"v1.1.0", "v1.2.0"}) {
		t.Errorf("newer: %v, %v", versions, err)
	}
	flags, err := tree.with(ctx, "example.com/dep", "v1.2.0")
	if err != nil || len(flags) != 2 || flags[1] != "-mod=mod" {
		t.Fatalf("%v, %v", flags, err)
	}
	text, err := os.ReadFile(strings.TrimPrefix(flags[0], "-modfile="))
	if err != nil || !strings.Contains(string(text), "example.com/dep v1.2.0") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := tree.with(ctx, "example.com/dep", "v9.9.9"); err == nil || !strings.Contains(err.Error(), "v9.9.9") {
		t.Errorf("a version that is not there: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || string(after) != gomod {
		t.Errorf("the user's go.mod changed: %s, %v", after, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the user's tree has %d files, %v", len(entries), err)
	}
}

func TestRefuses(t *testing.T) {
	if _, err := Run(t.Context(), session.Config{CacheDir: t.TempDir()}, Spec{Options: capture.Options{URL: "http://127.0.0.1:1"}}); err == nil || !strings.Contains(err.Error(), "name its package") {
		t.Errorf("%v", err)
	}
	t.Setenv("GO111MODULE", "")
	t.Setenv("GOWORK", "off")
	if _, err := openTree(t.Context(), "go", t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "in no module") {
		t.Errorf("%v", err)
	}
}
