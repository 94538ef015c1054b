package tunedeps

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
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
		{Metric: "cpu", Old: 1, New: 0.65, Ratio: ratio(0.65), Verdict: compare.Better},
		{Metric: "allocated", Old: 1, New: 0.6, Ratio: ratio(0.6), Verdict: compare.Better, Exact: true},
		{Metric: compare.PeakMemory, Old: 1, New: 0.2, Ratio: ratio(0.2), Verdict: compare.Better},
	}}
	if got := saved(exact); got == nil || got.Metric != "allocated" {
		t.Errorf("a figure that does not scatter decides: %+v", got)
	}
	exact.Rows[0].Ratio = ratio(0.5)
	if got := saved(exact); got == nil || got.Metric != "cpu" {
		t.Errorf("CPU that falls clearly decides: %+v", got)
	}
	if got := saved(&compare.Comparison{Rows: []compare.Row{{Metric: "cpu", Old: 1, New: 0.97, Ratio: ratio(0.97), Verdict: compare.Better}}}); got != nil {
		t.Errorf("3 %% are no cure: %+v", got)
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

// TestBuilding: for each number of versions and each first one that does not build, the last one that does is found, with a
// logarithmic number of builds and with one where the newest builds.
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
