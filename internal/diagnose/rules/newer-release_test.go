package rules_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/diagnose/rule"
	newerrelease "github.com/hone-go/hone/internal/diagnose/rules/newer-release"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// slowModule is a package of the program, which has two releases as a module in this test.
const slowModule = "example.com/newer-release/caught/dep"

// Newer releases of it: one has another Distinct, one has other functions.
const (
	quickDistinct = `// Package dep counts.
package dep

// Distinct returns how many different numbers are in a list. A map avoids the quadratic search.
func Distinct(list []int) int {
	seen := make(map[int]bool, len(list))
	for _, x := range list {
		seen[x] = true
	}
	return len(seen)
}
`
	goneDistinct = `// Package dep counts.
package dep

// Distinct returns how many different numbers are in a list.
var Distinct = sorted

func sorted(list []int) int { return len(list) }
`
)

// releasedIn writes two releases of the module into a module cache of this test's own.
func releasedIn(t *testing.T, newer, notes string) {
	t.Helper()
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	write := func(version, name, text string) {
		t.Helper()
		path := filepath.Join(cache, filepath.FromSlash(slowModule)+"@"+version, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("v1.0.0", "dep.go", string(slowSource(t)))
	write("v1.1.0", "dep.go", newer)
	write("v1.1.0", "CHANGELOG.md", notes)
}

// slowSource is the module as the recorded program has it.
func slowSource(t *testing.T) []byte {
	t.Helper()
	a, err := txtar.ParseFile("newer-release/testdata/caught.txtar")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "dep/dep.go" })
	return a.Files[i].Data
}

// lineOf returns the line of the module that contains a text.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	for i, line := range strings.Split(string(slowSource(t)), "\n") {
		if strings.Contains(line, text) {
			return i + 1
		}
	}
	t.Fatalf("no line has %q", text)
	return 0
}

// upgraded is what a run with the newer release showed: the CPU seconds, the time and the bytes of
// runs with and without it.
func upgraded(cpu, seconds, bytes [2]float64) *recording.Upgrade {
	u := &recording.Upgrade{Modules: []recording.ModuleUpgrade{{Path: slowModule, From: "v1.0.0", To: "v1.1.0"}}}
	for i, name := range []string{recording.UpgradeCPU, recording.UpgradeTime, recording.UpgradeBytes} {
		x := [][2]float64{cpu, seconds, bytes}[i]
		around := func(x float64) []float64 { return []float64{0.99 * x, x, 1.01 * x, x} }
		if x[0] > 0 {
			u.Figures = append(u.Figures, recording.UpgradeFigure{Name: name, Old: around(x[0]), New: around(x[1])})
		}
	}
	return u
}

// quickCPU is the profile with the newer release: most of the rest is in main.sum.
func quickCPU(t *testing.T) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for name, n := range map[string]int64{slowModule + ".Distinct": 3, slowModule + ".sorted": 2, "main.sum": 15} {
		b.Add([]profile.FrameSpec{{Function: name, File: "x.go", Line: 3}, {Function: "main.main", File: "main.go", Line: 9}}, n, n*1e7)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// findNewer runs the rule on the recorded program as if its package dep were a module.
func findNewer(t *testing.T, change func(*rule.Pass)) []rule.Match {
	t.Helper()
	p := ruletest.RecordFor(t, newerrelease.Rule(), "newer-release/testdata/caught.txtar")
	code, err := gocode.Open(t.Context(), gocode.Config{
		BuildInfo: "go\tgo1.26.8\npath\texample.com/newer-release/caught\nmod\texample.com/newer-release/caught\t(devel)\t\n" +
			"dep\t" + slowModule + "\tv1.0.0\th1:x=\ndep\texample.com/other\tv1.0.0\th1:x=\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Code = code
	p.Upgraded.CPU = quickCPU(t)
	p.Manifest.Upgrade = upgraded([2]float64{0.45, 0.09}, [2]float64{0.46, 0.1}, [2]float64{})
	change(p)
	matches, err := newerrelease.Rule().Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return matches
}

// TestNewerRelease: the finding is at the line of the function that the newer release changed.
func TestNewerRelease(t *testing.T) {
	releasedIn(t, quickDistinct, "# Changes\n\n## v1.1.0\n\n- Distinct is faster, because it uses a map.\n\n## v1.0.0\n\n- First release.\n")
	var seconds float64
	matches := findNewer(t, func(p *rule.Pass) { seconds = p.Table.Totals.TotalSeconds })
	if len(matches) != 1 {
		t.Fatalf("%d matches", len(matches))
	}
	m := matches[0]
	t.Log(m.Cause, m.Fix)
	if m.Site == nil || filepath.Base(m.Site.File) != "dep.go" || m.Site.Line != lineOf(t, "before(list[:i], x)") || m.Site.Function != slowModule+".Distinct" {
		t.Errorf("at %+v", m.Site)
	}
	if m.Confidence != rule.Proved || len(m.Around) == 0 || !m.Empty() {
		t.Errorf("%s, %d rows around, empty: %t", m.Confidence, len(m.Around), m.Empty())
	}
	for _, want := range []string{
		"With v1.1.0 of the module in place of v1.0.0,", "90 ms of CPU per run in place of 450 ms: 80 % less", "v1.1.0 changed Distinct. It no longer calls before (line 8) in a loop",
		"avoids the quadratic search",
	} {
		if !strings.Contains(m.Cause, want) {
			t.Errorf("cause: no %q", want)
		}
	}
	for _, want := range []string{"go get " + slowModule + "@v1.1.0", "Distinct is faster"} {
		if !strings.Contains(m.Fix, want) {
			t.Errorf("fix: no %q", want)
		}
	}
	// 80 % of all CPU, of which the profile shows more in the module.
	s := m.Saving
	if math.Abs(s.Seconds/seconds-0.8) > 0.02 || s.Low > s.Seconds || s.High < s.Seconds || s.Low/seconds < 0.75 || s.Cost < s.Seconds || s.Cost > seconds || s.Latency != 0 {
		t.Errorf("%+v of %g s", *s, seconds)
	}
	if p := m.Patch; p == nil || p.Release != "v1.1.0" || !slices.ContainsFunc(p.Lines, func(l rule.PatchLine) bool {
		return l.Op == "-" && l.Line == m.Site.Line && strings.Contains(l.Text, "before(list[:i], x)")
	}) {
		t.Errorf("patch %+v", p)
	}
	if len(m.Evidence) != 2 {
		t.Errorf("evidence %+v", m.Evidence)
	}
}

// TestNewerReleaseTime: when only time is less, as after a wait, that is what is saved.
func TestNewerReleaseTime(t *testing.T) {
	releasedIn(t, quickDistinct, "")
	matches := findNewer(t, func(p *rule.Pass) {
		p.Manifest.Upgrade = upgraded([2]float64{1, 1}, [2]float64{0.4, 0.1}, [2]float64{})
		for _, s := range p.Table.Sites {
			if s.Function == slowModule+".before" {
				s.Block = s.CPU
			}
		}
	})
	if len(matches) != 1 || !strings.Contains(matches[0].Cause, "time") || strings.Contains(matches[0].Cause, "of CPU") {
		t.Fatalf("%+v", matches)
	}
	if s := matches[0].Saving; math.Abs(s.Latency-0.4) > 0.01 || math.Abs(s.Seconds-0.3) > 0.02 || s.High > s.Latency {
		t.Errorf("%+v", *s)
	}
}

// TestNewerReleaseLeak: when memory stays only without the newer release, the finding is at what
// keeps it.
func TestNewerReleaseLeak(t *testing.T) {
	releasedIn(t, quickDistinct, "")
	leak := recording.UpgradeFigure{Name: recording.UpgradeLive, Old: []float64{2048, 2300}, New: []float64{16}}
	matches := findNewer(t, func(p *rule.Pass) {
		p.Manifest.Upgrade.Figures = append(p.Manifest.Upgrade.Figures, leak)
		for _, s := range p.Table.Sites {
			s.Live = s.CPU
		}
	})
	if len(matches) != 1 || !strings.Contains(matches[0].Cause, "Memory leaks without it: 2.0 KiB stay per run, and 16 B with it.") ||
		!strings.Contains(matches[0].Cause, "v1.1.0 changed Distinct") {
		t.Fatalf("%+v", matches)
	}
	leak.New = []float64{1024} // which is still a leak
	matches = findNewer(t, func(p *rule.Pass) { p.Manifest.Upgrade.Figures = append(p.Manifest.Upgrade.Figures, leak) })
	if len(matches) != 1 || strings.Contains(matches[0].Cause, "leak") {
		t.Fatalf("%+v", matches)
	}
}

// TestNewerReleaseGone: a function that the newer release does not have any more.
func TestNewerReleaseGone(t *testing.T) {
	releasedIn(t, goneDistinct, "")
	matches := findNewer(t, func(*rule.Pass) {})
	if len(matches) != 1 {
		t.Fatalf("%d matches", len(matches))
	}
	m := matches[0]
	if at := m.Site; filepath.Base(at.File) != "dep.go" || at.Line < lineOf(t, "func Distinct") || at.Line > lineOf(t, "return true") {
		t.Errorf("at %s:%d", at.File, at.Line)
	}
	if !strings.Contains(m.Cause, "The new release has no function ") || m.Confidence != rule.Proved {
		t.Errorf("%s: %s", m.Confidence, m.Cause)
	}
}

// TestNewerReleaseSilent: nothing is said about releases that were not measured to cost less.
func TestNewerReleaseSilent(t *testing.T) {
	releasedIn(t, quickDistinct, "")
	none := [2]float64{}
	for name, change := range map[string]func(*rule.Pass){
		"no upgrade":          func(p *rule.Pass) { p.Manifest.Upgrade = nil },
		"no figures":          func(p *rule.Pass) { p.Manifest.Upgrade = upgraded(none, none, none) },
		"the module failed":   func(p *rule.Pass) { p.Manifest.Upgrade.Modules[0].Failed = "it does not build" },
		"another module":      func(p *rule.Pass) { p.Manifest.Upgrade.Modules[0].Path = "example.com/other" },
		"no profile of it":    func(p *rule.Pass) { p.Upgraded.CPU = nil },
		"costs more":          func(p *rule.Pass) { p.Manifest.Upgrade = upgraded([2]float64{1, 1.5}, [2]float64{1, 1.5}, none) },
		"saves three percent": func(p *rule.Pass) { p.Manifest.Upgrade = upgraded([2]float64{1, 0.97}, [2]float64{1, 0.97}, none) },
		"only time, without waits": func(p *rule.Pass) {
			p.Manifest.Upgrade = upgraded([2]float64{1, 1}, [2]float64{0.4, 0.1}, none)
		},
		"only bytes": func(p *rule.Pass) {
			p.Manifest.Upgrade = upgraded([2]float64{1, 1}, [2]float64{1, 1}, [2]float64{100, 10})
		},
		"figures that overlap": func(p *rule.Pass) {
			p.Manifest.Upgrade = upgraded(none, none, none)
			p.Manifest.Upgrade.Figures = []recording.UpgradeFigure{{Name: recording.UpgradeCPU, Old: []float64{1, 2, 3}, New: []float64{0.9, 1.8, 2.5}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, m := range findNewer(t, change) {
				t.Errorf("[%s] %s", m.Confidence, m.Cause)
			}
		})
	}
}
