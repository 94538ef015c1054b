package rules_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/rule"
	goroutineleak "github.com/hone-go/hone/internal/diagnose/rules/goroutine-leak"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
)

// leaking is a service of which 68,787 goroutines wait to send, started by one of its handlers.
func leaking() *rule.Pass {
	return &rule.Pass{
		Manifest: &recording.Manifest{
			Target: recording.Target{Kind: "service"},
			Load:   &recording.Load{Connections: 64},
			Phases: []recording.Phase{{Name: recording.PhaseCPU, Requests: 68_700}},
		},
		Table:      &site.Table{},
		Goroutines: rule.Change{First: 134, Last: 68_921},
		Parked: []site.Parked{{
			Frame: site.Frame{Function: "main.ask.func1", File: "/src/main.go", Line: 12, Owner: gocode.Owner{Kind: gocode.Main}},
			Count: 68_787,
			Wait:  []string{"runtime.gopark", "runtime.chansend", "runtime.chansend1"},
			Start: site.Frame{Function: "main.ask.func1", Owner: gocode.Owner{Kind: gocode.Main}},
		}},
		RecordingPath: "x.hone",
	}
}

// TestGoroutineLeakCaught finds the line in the profile that a leaking program takes of itself.
func TestGoroutineLeakCaught(t *testing.T) {
	live.Only(t)
	const archive = "goroutine-leak/testdata/caught.txtar"
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	goroutines, err := profile.Decode(bytes.NewReader(out), 0)
	if err != nil {
		t.Fatal(err)
	}
	code, err := gocode.Open(t.Context(), gocode.Config{Dir: dir, ImportPath: "example.com/caught", CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	p := leaking()
	p.Goroutines.Last = 3002
	if p.Parked, err = site.Waiting(t.Context(), code, goroutines); err != nil {
		t.Fatal(err)
	}
	ruletest.Compare(t, goroutineleak.Rule(), p, ruletest.Wanted(t, archive, "goroutine-leak"))
}

// provedLeak is a service in which the collector found 50 goroutines that nothing can wake; 100
// more wait for something reachable.
func provedLeak() *rule.Pass {
	p := leaking()
	came := int64(40)
	p.Manifest.Phases = append(p.Manifest.Phases, recording.Phase{Name: recording.PhaseLeaks, Requests: 120, Leaked: &came})
	p.Goroutines = rule.Change{First: 10, Last: 60}
	g := p.Parked[0]
	g.Count = 50
	g.Created = site.Creation{Function: "main.ask", File: "/src/main.go", Line: 9}
	p.Leaked = []site.Parked{g}
	p.Parked[0].Count = 50
	return p
}

// TestProvedLeak: what the collector found is certain without thousands of goroutines; the rest is
// likely at most.
func TestProvedLeak(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*rule.Pass)
		want   rule.Confidence // "": no match
		cause  string
	}{
		{"a leak", func(*rule.Pass) {}, rule.Measured,
			"50 goroutines are blocked here forever, to send to a channel, started at main.go:9 in main.ask. The garbage collector found that nothing can wake them. One comes with every 3 requests."},
		{"of a runtime that has the profile", func(p *rule.Pass) {
			p.Manifest.Phases, p.Leaked[0].Count = p.Manifest.Phases[:1], 68_787
			p.Parked[0].Count = 68_787
		}, rule.Measured, "One comes with each request."},
		{"there before the load", func(p *rule.Pass) { *p.Manifest.Phases[1].Leaked = 0 }, "", ""},
		{"a handful", func(p *rule.Pass) { p.Leaked[0].Count = 4 }, "", ""},
		{"none, but many wait for what is reachable", func(p *rule.Pass) {
			p.Leaked, p.Parked[0].Count, p.Goroutines.Last = []site.Parked{}, 68_787, 68_921
		}, rule.Likely, "still reachable"},
		{"left after a benchmark", func(p *rule.Pass) {
			p.Manifest.Target.Kind, p.Manifest.Target.Bench, p.Goroutines = "bench", ".", rule.Change{}
		}, rule.Measured, "left after the last benchmark"},
	} {
		p := provedLeak()
		c.change(p)
		matches, err := goroutineleak.Rule().Find(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(matches) != map[bool]int{false: 1}[c.want == ""] {
			t.Errorf("%s: %d matches", c.what, len(matches))
			continue
		}
		if len(matches) > 0 && (matches[0].Confidence != c.want || !strings.Contains(matches[0].Cause, c.cause)) {
			t.Errorf("%s: %s %q", c.what, matches[0].Confidence, matches[0].Cause)
		}
	}
}

func TestGoroutineLeak(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*rule.Pass)
		want   int
	}{
		{"a leak", func(*rule.Pass) {}, 1},
		{"a leak without load", func(p *rule.Pass) { p.Manifest.Load, p.Manifest.Phases = nil, nil }, 1},
		{"a pool, there from the start", func(p *rule.Pass) { p.Goroutines.First = 68_800 }, 0},
		{"some for each client", func(p *rule.Pass) { p.Manifest.Load.Connections = 10_000 }, 0},
		{"few", func(p *rule.Pass) { p.Parked[0].Count, p.Goroutines.Last = 900, 1000 }, 0},
		{"few, but one for every tenth request", func(p *rule.Pass) {
			p.Manifest.Load.Connections, p.Manifest.Phases[0].Requests = 8, 8000
			p.Parked[0].Count, p.Goroutines.First, p.Goroutines.Last = 790, 10, 800
		}, 1},
		{"left after a benchmark", func(p *rule.Pass) {
			p.Manifest.Target.Kind, p.Goroutines = "bench", rule.Change{}
		}, 1},
		{"few left after a benchmark", func(p *rule.Pass) {
			p.Manifest.Target.Kind, p.Parked[0].Count = "bench", 100
		}, 0},
		{"connections that wait for their peers", func(p *rule.Pass) {
			p.Parked[0].Wait = []string{"runtime.gopark", "runtime.netpollblock", "internal/poll.runtime_pollWait"}
		}, 0},
		{"connections of the standard library", func(p *rule.Pass) {
			p.Parked[0].Start = site.Frame{Function: "net/http.(*conn).serve", Owner: gocode.Owner{Kind: gocode.Std}}
		}, 0},
		{"a program that exits", func(p *rule.Pass) { p.Manifest.Target.Kind = "program" }, 0},
		{"goroutines of requests under way, which end", func(p *rule.Pass) {
			p.Trace = &analysis.Results{Goroutines: &wall.Goroutines{Groups: []wall.Group{{Function: "main.ask.func1", Found: 700, Created: 480, Ended: 490}}}}
		}, 0},
		{"goroutines of which some end", func(p *rule.Pass) {
			p.Trace = &analysis.Results{Goroutines: &wall.Goroutines{Groups: []wall.Group{{Function: "main.ask.func1", Found: 700, Created: 480, Ended: 240}}}}
		}, 1},
		{"no profile of goroutines", func(p *rule.Pass) { p.Parked = nil }, 0},
	} {
		p := leaking()
		c.change(p)
		matches, err := goroutineleak.Rule().Find(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(matches) != c.want {
			t.Errorf("%s: %d matches, want %d", c.what, len(matches), c.want)
			continue
		}
		if c.what != "a leak" {
			continue
		}
		m := matches[0]
		for _, want := range []string{"68787 goroutines wait here, to send to a channel", "134 goroutines at the start", ", 1 more for each request", "134 MiB"} {
			if !strings.Contains(m.Cause, want) {
				t.Errorf("%s: no %q in %q", c.what, want, m.Cause)
			}
		}
		if m.Site.Line != 12 || !strings.Contains(m.Fix, "room for the one value") {
			t.Errorf("%+v", m)
		}
	}
}
