package tunepgo

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/profile"
)

// cpu is a CPU profile: samples by leaf.
func cpu(t *testing.T, samples map[string]int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for fn, n := range samples {
		b.Add([]profile.FrameSpec{{Function: fn, File: "x.go", Line: 1}, {Function: "main.main", File: "x.go", Line: 2}}, n, n*1e7)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMergesGivenProfiles(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, samples := range []map[string]int64{{"main.a": 60, "main.gone": 20}, {"main.a": 20}} {
		name := filepath.Join(dir, "p"+string(rune('0'+len(names))))
		if err := write(name, cpu(t, samples)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	own := cpu(t, map[string]int64{"main.a": 5})
	x := &trial{Spec: Spec{Profiles: names}, r: &Result{}}
	given, err := x.given(t.Context())
	if err != nil || x.r.Samples != 100 {
		t.Fatalf("%+v, %v", x.r, err)
	}
	if p, err := x.choose(given, own); err != nil || p != given || x.r.Samples != 100 || x.r.Stale == nil || math.Abs(*x.r.Stale-0.2) > 1e-9 {
		t.Errorf("%+v, stale %v, %v", x.r, x.r.Stale, err)
	}
}

func TestBuildsWithItsOwnProfile(t *testing.T) {
	own := cpu(t, map[string]int64{"main.a": 5})
	x := &trial{r: &Result{}}
	given, err := x.given(t.Context())
	if given != nil || err != nil {
		t.Fatalf("%v, %v", given, err)
	}
	if p, err := x.choose(given, own); err != nil || p != own || x.r.Samples != 5 || x.r.Stale != nil {
		t.Errorf("%+v, %v", x.r, err)
	}
	if _, err := (&trial{r: &Result{}}).choose(nil, cpu(t, nil)); err == nil || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("an empty profile: %v", err)
	}
}

func TestRejectsGivenProfiles(t *testing.T) {
	dir := t.TempDir()
	bad, empty := filepath.Join(dir, "bad"), filepath.Join(dir, "empty")
	if err := os.WriteFile(bad, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(empty, cpu(t, nil)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{bad: bad, empty: "no samples"} {
		if _, err := (&trial{Spec: Spec{Profiles: []string{file}}, r: &Result{}}).given(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSaves(t *testing.T) {
	for _, tt := range []struct {
		cpu, wall, bytes compare.Verdict
		want             bool
	}{
		{compare.Better, compare.Same, compare.Same, true},
		{compare.Better, compare.Worse, compare.Same, false},
		{compare.Unknown, compare.Unknown, compare.Better, false},
		{compare.Better, compare.Unknown, compare.Worse, true},
	} {
		c := &compare.Comparison{Rows: []compare.Row{{Metric: "cpu", Verdict: tt.cpu}, {Metric: "wall", Verdict: tt.wall}, {Metric: "allocated", Verdict: tt.bytes}}}
		if got := saves(c); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, o := range []capture.Options{{Bench: "."}, {URL: "http://127.0.0.1:1"}} {
		if _, err := Run(t.Context(), session.Config{CacheDir: t.TempDir()}, Spec{Options: o}); err == nil || !strings.Contains(err.Error(), "name a main package") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
