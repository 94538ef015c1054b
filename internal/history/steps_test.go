package history

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// TestTracks: a step is between two commits; if the toolchain changed there, the step says so;
// machines are separate; changed trees do not count.
func TestTracks(t *testing.T) {
	t.Parallel() // it mostly waits
	s := open(t, filepath.Join(t.TempDir(), "h.db"))
	rng := rand.New(rand.NewPCG(1, 2))
	add := func(n int, machine, tool string, level float64, dirty bool) {
		t.Helper()
		r := made(n)
		r.Machine, r.Go, r.Dirty = machine, tool, dirty
		if _, err := s.Add(t.Context(), r, []Sample{sample("BenchmarkA-2", "cpu-ns/op", level*(1+0.01*rng.NormFloat64()))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 40 {
		level, tool := 100.0, "go1.25"
		if n >= 12 {
			level = 115
		}
		if n >= 25 {
			tool, level = "go1.26", 90
		}
		add(n, "a", tool, level, false)
		add(n, "a", tool, 1000, true)
		add(n, "b", "go1.26", 500, false)
	}
	got, err := s.Tracks(t.Context(), "A", "")
	if err != nil || len(got) != 2 {
		t.Fatalf("%d tracks, %v", len(got), err)
	}
	a, b := got[0], got[1]
	if a.Machine != "a" {
		a, b = b, a
	}
	if len(b.Steps) > 0 {
		t.Errorf("steps of the level series: %+v", b.Steps)
	}
	if len(a.Points) != 40 || len(a.Steps) != 2 {
		t.Fatalf("%d points, steps %+v", len(a.Points), a.Steps)
	}
	first, second := a.Steps[0], a.Steps[1]
	if first.Good.Subject != "commit 11" || first.Bad.Subject != "commit 12" || first.By != ByCommit || first.After/first.Before < 1.12 || first.After/first.Before > 1.18 {
		t.Errorf("%+v", first)
	}
	if second.Bad.Subject != "commit 25" || second.By != ByToolchain || second.At != 25 {
		t.Errorf("%+v", second)
	}
}

func TestMatches(t *testing.T) {
	c := Series{"example.com/x/y", "BenchmarkEncode/small-8", "ns/op"}
	for pattern, want := range map[string]bool{
		"": true, "Encode/small": true, "BenchmarkEncode/small": true, "Encode/small-8": true, "Encode/*": true, "example.com/x/y": true,
		"example.com/x/y.Encode/small": true, "Encode": false, "small": false, "example.com/x": false, "[": false,
	} {
		if got := Matches(pattern, c); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}

func TestReadLines(t *testing.T) {
	const text = `goos: linux
goarch: amd64
pkg: example.com/x
cpu: AMD
commit: aaaa1111
commit-time: 2026-01-02T03:04:05Z
BenchmarkA-2 100 12.5 ns/op 3 allocs/op
BenchmarkA-2 100 13 ns/op 3 allocs/op
commit: bbbb2222
BenchmarkA-2 100 11 ns/op 3 allocs/op
`
	got, err := ReadLines(strings.NewReader(text), "f")
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	first := got[0]
	if first.Run.Commit != "aaaa1111" || first.Run.Machine != "AMD, linux, amd64" || first.Run.CommitTime.Year() != 2026 || len(first.Samples) != 2 || len(first.Samples[0].Values) != 2 ||
		first.Samples[0].Values[1] != 13 || first.Samples[0].Package != "example.com/x" {
		t.Errorf("%+v", first)
	}
	if got[1].Run.Commit != "bbbb2222" {
		t.Errorf("%+v", got[1])
	}
	if _, err := ReadLines(strings.NewReader("PASS\n"), "f"); err == nil {
		t.Error("no lines: no error")
	}
}
