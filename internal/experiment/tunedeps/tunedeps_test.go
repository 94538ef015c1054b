package tunedeps

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/session"
)

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
	exact := &compare.Comparison{Rows: []compare.Row{
		{Metric: "cpu", Old: 1, New: 0.35, Ratio: ratio(0.35), Verdict: compare.Better},
		{Metric: "allocated", Old: 1, New: 0.2, Ratio: ratio(0.2), Verdict: compare.Better, Exact: true},
		{Metric: compare.PeakMemory, Old: 1, New: 0.1, Ratio: ratio(0.1), Verdict: compare.Better},
		{Metric: compare.GCShare, Old: 1, New: 0.1, Ratio: ratio(0.1), Verdict: compare.Better},
	}}
	if got := saved(exact); got == nil || got.Metric != "allocated" {
		t.Errorf("what falls most decides: %+v", got)
	}
	exact.Rows[0].Ratio = ratio(0.25)
	if got := saved(exact); got == nil || got.Metric != "cpu" {
		t.Errorf("CPU falls about as much: %+v", got)
	}
	lock := &compare.Comparison{Rows: append(exact.Rows, compare.Row{Metric: compare.LockWait, Old: 1, Ratio: ratio(0), Verdict: compare.Better})}
	if got := saved(lock); got == nil || got.Metric != compare.LockWait {
		t.Errorf("what falls to nothing decides: %+v", got)
	}
	if got := saved(&compare.Comparison{Rows: []compare.Row{{Metric: "cpu", Old: 1, New: 0.97, Ratio: ratio(0.97), Verdict: compare.Better}}}); got != nil {
		t.Errorf("3 %% are not enough: %+v", got)
	}
	if got := saved(&compare.Comparison{Rows: c.Rows[:1]}); got != nil {
		t.Errorf("what is unknown is saved: %+v", got)
	}
}

func TestRefuses(t *testing.T) {
	if _, err := Run(t.Context(), session.Config{CacheDir: t.TempDir()}, Spec{Options: capture.Options{URL: "http://127.0.0.1:1"}}); err == nil || !strings.Contains(err.Error(), "name its package") {
		t.Errorf("%v", err)
	}
}

func TestLastOfMinors(t *testing.T) {
	all := []string{"v1.1.0", "v1.1.1", "v1.2.0", "v1.3.0", "v1.3.1", "v2.0.0+incompatible", "v2.0.1+incompatible"}
	if got := lastOfMinors(all); !slices.Equal(got, []string{"v2.0.1+incompatible", "v1.3.1", "v1.2.0", "v1.1.1"}) {
		t.Errorf("%v", got)
	}
	if got := lastOfMinors(nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// TestBuilding: for every number of versions and every first one that does not build, the last one
// that builds is found, with a logarithmic number of builds, and with one build if the newest
// version builds.
func TestBuilding(t *testing.T) {
	for n := range 20 {
		for broken := range n + 1 {
			asked := 0
			got, err := building(n, func(i int) (bool, error) { asked++; return i < broken, nil })
			if err != nil || got != broken {
				t.Errorf("%d versions, broken from %d: %d, %v", n, broken, got, err)
			}
			if most := 1 + bits.Len(uint(n)); asked > most || broken == n && asked > 1 {
				t.Errorf("%d versions, broken from %d: %d builds", n, broken, asked)
			}
		}
	}
	failed := errors.New("interrupted")
	if _, err := building(5, func(i int) (bool, error) { return false, failed }); !errors.Is(err, failed) {
		t.Errorf("an interruption: %v", err)
	}
}

// outcomeOf returns a trial in which a version has a given part of the old cost.
func outcomeOf(left float64, verdict compare.Verdict) experiment.Outcome {
	return experiment.Outcome{Comparison: &compare.Comparison{Rows: []compare.Row{
		{Name: "A", Metric: "cpu", Old: 1, New: left, Ratio: &left, Verdict: verdict},
	}}}
}

// simulated measures versions, some of which fix the cost. Quick measurements are wrong with a
// probability; trials never are, and are counted.
func simulated(b *bisection, fixes func(i int) bool, wrong float64, rng *rand.Rand, trials *int) measures {
	const left, some = 0.6, 0.85 // of the old cost; half of what the newest saves is 0.8
	leaves := func(fixes bool) float64 {
		if fixes {
			return left
		}
		return some
	}
	return measures{
		look: func(i int) (judged, error) {
			return b.looked(outcomeOf(leaves(fixes(i) != (rng.Float64() < wrong)), compare.Unknown).Comparison, ""), nil
		},
		trial: func(list []int) (outs []experiment.Outcome, err error) {
			*trials++
			for _, i := range list {
				outs = append(outs, outcomeOf(leaves(fixes(i)), compare.Better))
			}
			return outs, nil
		},
	}
}

func minors(n int) (versions []string) {
	for i := range n {
		versions = append(versions, fmt.Sprintf("v1.%d.0", i))
	}
	return versions
}

// TestBisection: if all versions from one on have the fix, that version is found when quick
// measurements are right. When one in five is wrong, the result is a version with the fix, and
// nearly always the oldest. A version that saves less than half does not count as a fix.
func TestBisection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, wrong := range []float64{0, 0.2} {
		exact, all := 0, 0
		for range 20 {
			for n := 1; n <= 16; n++ {
				for oldest := range n {
					versions, newest, trials := minors(n), outcomeOf(0.6, compare.Better), 0
					b := newBisection(versions, newest, &newest.Comparison.Rows[0])
					if err := b.run(simulated(b, func(i int) bool { return i >= oldest }, wrong, rng, &trials)); err != nil {
						t.Fatal(err)
					}
					var m Module
					m.take(b)
					all++
					named := slices.Index(versions, m.Cure.Version)
					if named < oldest {
						t.Fatalf("%d versions, fixed from %d: named %d", n, oldest, named)
					}
					if named == oldest {
						exact++
					}
					if wrong == 0 && (named != oldest || trials > 1) {
						t.Errorf("%d versions, fixed from %d: named %d after %d trials", n, oldest, named, trials)
					}
					if !slices.IsSortedFunc(m.Tried, func(a, b Tried) int { return semver.Compare(a.Version, b.Version) }) {
						t.Errorf("not in the order of releases: %v", m.Tried)
					}
				}
			}
		}
		t.Logf("%.0f %% of looks wrong: the oldest is named in %.1f %%", 100*wrong, 100*float64(exact)/float64(all))
		if float64(exact) < 0.95*float64(all) {
			t.Errorf("%.0f %% of looks wrong: the oldest is named in %d of %d", 100*wrong, exact, all)
		}
	}
}

// TestBisectionLostAgain: versions in the middle lost the saving of older ones, and the newest has
// it again.
func TestBisectionLostAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for first := range 6 {
		fixes := func(i int) bool { return i >= first && i < 6 || i >= 9 }
		versions, newest, trials := minors(11), outcomeOf(0.6, compare.Better), 0
		b := newBisection(versions, newest, &newest.Comparison.Rows[0])
		if err := b.run(simulated(b, fixes, 0, rng, &trials)); err != nil {
			t.Fatal(err)
		}
		var m Module
		m.take(b)
		if want := versions[first]; m.Cure.Version != want || trials > 2 {
			t.Errorf("named %s after %d trials, want %s", m.Cure.Version, trials, want)
		}
		// Measured quickly they seem to have the fix; a trial shows that they do not.
		b = newBisection(versions, newest, &newest.Comparison.Rows[0])
		pretend := simulated(b, fixes, 0, rng, &trials)
		pretend.trial = simulated(b, func(i int) bool { return i >= 9 }, 0, rng, &trials).trial
		if err := b.run(pretend); err != nil {
			t.Fatal(err)
		}
		m = Module{}
		if m.take(b); slices.Index(versions, m.Cure.Version) < 9 {
			t.Errorf("named %s, which no trial shows to have the fix", m.Cure.Version)
		}
	}
}

// TestBisectionFailures: versions that fail are skipped, and those that a trial shows to be without
// the fix are not named.
func TestBisectionFailures(t *testing.T) {
	versions := []string{"v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0"}
	newest := outcomeOf(0.5, compare.Better)
	b := newBisection(versions, newest, &newest.Comparison.Rows[0])
	err := b.run(measures{look: func(i int) (judged, error) {
		if i == 0 {
			return b.looked(nil, "does not build"), nil
		}
		return b.looked(outcomeOf(0.5, compare.Unknown).Comparison, ""), nil
	}, trial: func(list []int) (outs []experiment.Outcome, err error) {
		for _, i := range list {
			o := outcomeOf(0.5, compare.Better)
			if i == 1 {
				o.Differs = "prints something else"
			}
			outs = append(outs, o)
		}
		return outs, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := Module{Tried: []Tried{{Version: "v1.2.0"}, {Version: "v1.4.0", Failed: "does not build"}}}
	m.take(b)
	if m.Cure.Version != "v1.2.0" || m.Last == nil || m.Last.Version != "v1.3.0" {
		t.Errorf("named %s, last %+v", m.Cure.Version, m.Last)
	}
	var all []string
	for _, x := range m.Tried {
		all = append(all, fmt.Sprint(x.Version, " ", x.Cures, " ", x.Failed))
	}
	want := []string{"v1.0.0 false does not build", "v1.1.0 false prints something else", "v1.2.0 true ", "v1.3.0 true ", "v1.4.0 false does not build"}
	if !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
	broken := errors.New("interrupted")
	b = newBisection(versions, newest, &newest.Comparison.Rows[0])
	if err := b.run(measures{look: func(int) (judged, error) { return judged{}, broken }}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
