package trial_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/trial"
)

// TestBlocks: in each block every variant runs twice, with the same mean position, and the order of
// blocks varies.
func TestBlocks(t *testing.T) {
	for variants := 1; variants <= 5; variants++ {
		tr := trial.New(variants, 7, trial.Limits{Most: 1000})
		seen := map[int]bool{}
		for range 50 {
			block := tr.Block()
			if len(block) != 2*variants {
				t.Fatalf("%d variants: block %v", variants, block)
			}
			seen[block[0]] = true
			places := make([]int, variants)
			for i, v := range block {
				places[v] += i
			}
			for v, sum := range places {
				if sum != len(block)-1 {
					t.Errorf("variant %d stands at %d in sum in %v, want %d", v, sum, block, len(block)-1)
				}
			}
		}
		if len(seen) != variants {
			t.Errorf("%d variants: only %v ever come first", variants, seen)
		}
		if tr.Runs() != 100 {
			t.Errorf("%d runs", tr.Runs())
		}
	}
}

func TestRun(t *testing.T) {
	var order []int
	run := func(_ context.Context, v int) error { order = append(order, v); return nil }
	narrow, wide := func() float64 { return 0.01 }, func() float64 { return math.Inf(1) }
	var none func() float64
	for _, tt := range []struct {
		what   string
		limits trial.Limits
		width  func() float64
		want   int // runs of each variant
	}{
		{"narrow at once, but not before the least", trial.Limits{Least: 6, Most: 20, Width: 0.02}, narrow, 6},
		{"exactly as narrow as asked", trial.Limits{Least: 2, Most: 20, Width: 0.01}, narrow, 2},
		{"not narrow enough", trial.Limits{Least: 2, Most: 10, Width: 0.005}, narrow, 10},
		{"no width is asked for", trial.Limits{Least: 2, Most: 10}, narrow, 10},
		{"never narrow", trial.Limits{Least: 2, Most: 10, Width: 0.02}, wide, 10},
		{"unknown", trial.Limits{Least: 2, Most: 4, Width: 0.02}, math.NaN, 4},
		{"nobody knows a width", trial.Limits{Least: 2, Most: 4, Width: 0.02}, none, 4},
		{"no time", trial.Limits{Least: 4, Most: 10, Budget: 1}, none, 4},
		{"time", trial.Limits{Least: 4, Most: 8, Budget: time.Hour}, none, 8},
		{"odd numbers", trial.Limits{Least: 3, Most: 5, Width: 0.02}, narrow, 4},
		{"no runs", trial.Limits{}, none, 0},
	} {
		order = nil
		if err := trial.New(2, 1, tt.limits).Run(t.Context(), run, tt.width); err != nil {
			t.Fatal(err)
		}
		if n := len(order) / 2; n != tt.want {
			t.Errorf("%s: %d runs, want %d", tt.what, n, tt.want)
		}
	}
}

func TestRunStops(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	err := trial.New(2, 1, trial.Limits{Most: 10}).Run(t.Context(), func(context.Context, int) error {
		if n++; n == 3 {
			return broken
		}
		return nil
	}, nil)
	if !errors.Is(err, broken) || n != 3 {
		t.Errorf("%v after %d runs", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	err = trial.New(2, 1, trial.Limits{Most: 10}).Run(ctx, func(context.Context, int) error { n++; cancel(); return nil }, nil)
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d runs", err, n)
	}
	if err := trial.New(0, 1, trial.Limits{}).Run(t.Context(), nil, nil); err == nil {
		t.Error("no variants: no error")
	}
}

// TestSeeds: the order depends on the seed alone.
func TestSeeds(t *testing.T) {
	blocks := func(seed uint64) (all []int) {
		tr := trial.New(3, seed, trial.Limits{})
		for range 10 {
			all = append(all, tr.Block()...)
		}
		return all
	}
	if !slices.Equal(blocks(1), blocks(1)) || slices.Equal(blocks(1), blocks(2)) {
		t.Error("the seed does not decide the order")
	}
}
