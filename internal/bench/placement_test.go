package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/stats"
)

// placed returns a run of benchmarks whose times vary by 3 % from run to run, and by sd from link
// layout to link layout: each layout of each side has its own factor. The second set has other
// layouts.
func placed(rng *rand.Rand, benchmarks, samples int, sd, factor float64) *runner {
	r := &runner{}
	set := func(first int, f float64) (s []Sample) {
		var layouts [DefaultLayouts]float64
		for i := range layouts {
			layouts[i] = f * math.Exp(sd*rng.NormFloat64())
		}
		for i := range samples {
			l := i % len(layouts)
			s = append(s, Sample{Layout: first + l, Values: map[string]float64{cpuUnit: 100 * layouts[l] * math.Exp(0.03*rng.NormFloat64())}})
		}
		return s
	}
	for range benchmarks {
		x := &subject{Benchmark: &Benchmark{Old: set(1, 1), New: set(1, factor)}}
		x.second = [2][]Sample{set(1+DefaultLayouts, 1), set(1+DefaultLayouts, factor)}
		r.subjects = append(r.subjects, x)
	}
	return r
}

// TestPlacementIsNotAChange: functions that only moved get a verdict in at most 1 of 40 comparisons
// of five benchmarks, although the sides differ by more than their runs vary. A change of a tenth
// is still found.
func TestPlacementIsNotAChange(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation without goroutines, which takes minutes under the race detector")
	}
	for _, tt := range []struct {
		sd    float64 // between layouts
		found int     // at least, of 50 changes of a tenth
	}{{0, 49}, {0.01, 48}, {0.03, 30}} {
		t.Run(fmt.Sprintf("layouts differ by %g", tt.sd), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, uint64(1000*tt.sd)))
			wrong, naive, found := 0, 0, 0
			const comparisons = 120
			for range comparisons {
				r := placed(rng, 5, 24, tt.sd, 1)
				for _, x := range r.subjects {
					if i, p := stats.MedianRatio(values(x.Old, cpuUnit), values(x.New, cpuUnit)); p < 0.01 && i.Known() {
						naive++
					}
				}
				if v := r.verdicts(); v[compare.Better]+v[compare.Worse] > 0 {
					wrong++
				}
			}
			for range 10 {
				found += placed(rng, 5, 24, tt.sd, 1.1).verdicts()[compare.Worse]
			}
			t.Logf("%d of %d comparisons called something changed, %d of %d rows by the runs alone; a tenth found in %d of 50", wrong, comparisons, naive, 5*comparisons, found)
			if wrong > 6 { // a rate of 1 in 40 gives more in 5 of 100 tests
				t.Errorf("%d of %d comparisons of unchanged functions called one changed", wrong, comparisons)
			}
			if found < tt.found {
				t.Errorf("a change of a tenth was found in %d of 50, want %d", found, tt.found)
			}
		})
	}
}

// TestOneLayout: with a single layout per side, only the runs decide.
func TestOneLayout(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for _, layouts := range [][2]int{{1, 1}, {1, 4}} {
		var sides [2][]Sample
		for side, k := range layouts {
			for i := range 12 {
				sides[side] = append(sides[side], Sample{Layout: i % k, Values: map[string]float64{cpuUnit: 100 + rng.NormFloat64()}})
			}
		}
		want, wantP := stats.MedianRatio(values(sides[0], cpuUnit), values(sides[1], cpuUnit))
		if got, p, placement := ratioOf(sides[0], sides[1], cpuUnit); got != want || p != wantP || placement != 0 {
			t.Errorf("%v layouts: %v, p %g, placement %g; want %v, %g", layouts, got, p, placement, want, wantP)
		}
	}
}

// TestWideIntervalsHoldTheTruth: where layouts differ by 2 %, about 95 of 100 intervals contain the
// ratio of the functions themselves.
func TestWideIntervalsHoldTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation without goroutines, which takes minutes under the race detector")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	const all = 300
	held := [2]int{}
	for range all {
		x := placed(rng, 1, 24, 0.02, 1.05).subjects[0]
		old, new := slices.Concat(x.Old, x.second[0]), slices.Concat(x.New, x.second[1])
		for i, sides := range [2][2][]Sample{{x.Old, x.New}, {old, new}} {
			if ratio, _, _ := ratioOf(sides[0], sides[1], cpuUnit); ratio.Low <= 1.05 && 1.05 <= ratio.High {
				held[i]++
			}
		}
	}
	t.Logf("%d and %d of %d intervals hold the ratio", held[0], held[1], all)
	if held[0] < all*94/100 || held[1] < all*94/100 {
		t.Errorf("%d and %d of %d intervals hold the ratio", held[0], held[1], all)
	}
}
