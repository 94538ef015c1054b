package report_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// TestPrepare: reports by line and file are the same if they were prepared, if Prepare was stopped,
// and if reports ran meanwhile.
func TestPrepare(t *testing.T) {
	p := inlining(t, rand.New(rand.NewPCG(5, 28)), 0)
	graphs := func(c *report.Cache) (all []*report.FlameGraph) {
		for _, g := range []profile.Granularity{profile.ByFunction, profile.ByLine, profile.ByFile} {
			graph, err := report.Flame(p, report.FlameOptions{Granularity: g, Cache: c})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, graph)
		}
		return all
	}
	first := func(c *report.Cache) {
		if _, err := report.Flame(p, report.FlameOptions{Cache: c}); err != nil {
			t.Fatal(err)
		}
	}
	want := graphs(nil)
	for steps := range 12 {
		for _, meanwhile := range []bool{false, true} {
			cache := report.NewCache(p)
			if !cache.Prepared() {
				t.Fatal("there is something to prepare before the first report")
			}
			first(cache)
			if cache.Prepared() {
				t.Fatal("there is nothing to prepare after the first report")
			}
			left := steps
			cache.Prepare(func() bool {
				if left--; left == 0 && meanwhile {
					graphs(cache)
				}
				return left > 0 || meanwhile
			})
			if steps == 11 && !cache.Prepared() {
				t.Fatal("Prepare left something to prepare")
			}
			if diff := cmp.Diff(want, graphs(cache)); diff != "" {
				t.Fatalf("after %d steps, reports meanwhile: %t (-want +got):\n%s", steps, meanwhile, diff)
			}
		}
	}
}

// TestPrepareAtTheSameTime lets the race detector see reports while Prepare runs.
func TestPrepareAtTheSameTime(t *testing.T) {
	p := inlining(t, rand.New(rand.NewPCG(6, 28)), 0)
	cache := report.NewCache(p)
	if _, err := report.Flame(p, report.FlameOptions{Cache: cache}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cache.Prepare(func() bool { return true })
	}()
	for _, g := range []profile.Granularity{profile.ByFile, profile.ByFunction, profile.ByLine} {
		if _, err := report.Flame(p, report.FlameOptions{Granularity: g, Cache: cache}); err != nil {
			t.Fatal(err)
		}
	}
	<-done
}
