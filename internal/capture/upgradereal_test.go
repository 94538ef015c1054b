package capture

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/hone-go/hone/internal/recording"
)

const depPath = "example.com/dep"

// Releases of example.com/dep: the second does the same for less, the third is not for the program.
const (
	slowDep = `package dep

func Distinct(list []int) int {
	n := 0
	for i, x := range list {
		if !before(list[:i], x) {
			n++
		}
	}
	return n
}

//go:noinline
func before(list []int, x int) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
`
	fastDep = `package dep

func Distinct(list []int) int {
	seen := make(map[int]bool, len(list))
	for _, x := range list {
		seen[x] = true
	}
	return len(seen)
}
`
	otherDep = `package dep

func Distinct(list []string) int { return len(list) }
`
)

// proxied makes the go command find releases of example.com/dep, by version, in files alone.
func proxied(t *testing.T, releases map[string]string) {
	t.Helper()
	const gomod = "module " + depPath + "\n\ngo 1.20\n"
	proxy := t.TempDir()
	at := filepath.Join(proxy, "example.com", "dep", "@v")
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := ""
	for v, text := range releases {
		source := t.TempDir()
		put(filepath.Join(source, "go.mod"), gomod)
		put(filepath.Join(source, "dep.go"), text)
		put(filepath.Join(at, v+".info"), `{"Version":"`+v+`","Time":"2024-01-01T00:00:00Z"}`)
		put(filepath.Join(at, v+".mod"), gomod)
		f, err := os.Create(filepath.Join(at, v+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(zip.CreateFromDir(f, module.Version{Path: depPath, Version: v}, source), f.Close())
		if err != nil {
			t.Fatal(err)
		}
		list += v + "\n"
	}
	put(filepath.Join(at, "list"), list)
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GOFLAGS": "-modcacherw -mod=mod", "GOMODCACHE": t.TempDir(), "GOSUMDB": "off", "GOWORK": "off",
		"GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
}

const dependent = `
-- go.mod --
module example.com/app

go 1.23

require example.com/dep v1.0.0
-- main.go --
package main

import (
	"fmt"

	"example.com/dep"
)

func main() {
	list := make([]int, 30_000)
	for i := range list {
		list[i] = i
	}
	fmt.Println(dep.Distinct(list))
}
`

// TestRealUpgrade: a program whose dependency is quadratic, and no longer in a newer release.
func TestRealUpgrade(t *testing.T) {
	o := realOptions(t, unpack(t, dependent))
	proxied(t, map[string]string{"v1.0.0": slowDep, "v1.1.0": fastDep, "v1.2.0": otherDep})
	// recorded returns a recording of the program and what it reported of the phase.
	recorded := func(t *testing.T, phases ...string) (*recording.Recording, []string) {
		o, events := o, []Event(nil)
		o.Out, o.Phases = filepath.Join(t.TempDir(), "x.hone"), phases
		o.Progress = func(e Event) {
			t.Logf("%-10s %s", e.Phase, e.Text)
			events = append(events, e)
		}
		if partial, err := Record(t.Context(), o); partial || err != nil {
			t.Fatal(partial, err)
		}
		if left := names(t, o.WorkDir); len(left) > 0 {
			t.Errorf("left in the work directory: %q", left)
		}
		return openReal(t, o.Out), texts(events)
	}
	r, reported := recorded(t, recording.PhaseCPU)
	if r.Manifest.Upgrade != nil || r.Has(recording.PartUpgradeCPU) || len(reported) > 0 {
		t.Errorf("not asked for: %+v, %q", r.Manifest.Upgrade, reported)
	}
	before := names(t, o.Dir) // with the go.sum of the first build
	r, reported = recorded(t, recording.PhaseCPU, recording.PhaseUpgrade)
	u := r.Manifest.Upgrade
	if u == nil {
		t.Fatalf("no upgrade: %q", reported)
	}
	if m, ok := u.Tried(depPath); !ok || len(u.Modules) != 1 || m.From != "v1.0.0" || m.To != "v1.1.0" {
		t.Errorf("modules %+v", u.Modules)
	}
	if s := u.Saved(recording.UpgradeCPU); s.Low <= 0.2 {
		t.Errorf("saved %v of the CPU", s)
	}
	for _, part := range []string{recording.PartUpgradeCPU, recording.PartUpgradeAllocs} {
		if !r.Has(part) {
			t.Errorf("no %s: %s", part, why(r.Manifest, part))
		}
	}
	if got := total(t, r, recording.PartCPU, "cpu"); got == 0 {
		t.Error("no CPU profile of the unchanged program")
	}
	proxied(t, map[string]string{"v1.0.0": slowDep})
	r, reported = recorded(t, recording.PhaseCPU, recording.PhaseUpgrade)
	if r.Manifest.Upgrade != nil || len(reported) != 1 || !strings.HasPrefix(reported[0], "nothing to try") {
		t.Errorf("at the newest release: %+v, %q", r.Manifest.Upgrade, reported)
	}
	if after := names(t, o.Dir); !slices.Equal(before, after) {
		t.Errorf("the program's directory has %q, had %q", after, before)
	}
}
