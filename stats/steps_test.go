package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// series has n values around levels that change at the given places.
func series(rng *rand.Rand, n int, noise float64, tailed bool, steps map[int]float64) []float64 {
	level := 100.0
	out := make([]float64, n)
	for i := range out {
		if f, ok := steps[i]; ok {
			level *= f
		}
		e := rng.NormFloat64()
		if tailed && rng.IntN(20) == 0 {
			e *= 8 // another process on the machine
		}
		out[i] = level * math.Exp(noise*e)
	}
	return out
}

// TestStepsFalse: of series without a step, few show one.
func TestStepsFalse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		what   string
		n      int
		tailed bool
		most   float64
	}{
		{"100 normal values", 100, false, 0.02}, {"100 with disturbed ones", 100, true, 0.04}, {"12 normal values", 12, false, 0.03}, {"400 normal values", 400, false, 0.02},
	} {
		const runs = 400
		with, final := 0, 0
		for range runs {
			steps := Steps(series(rng, tt.n, 0.03, tt.tailed, nil), 0.01)
			if len(steps) > 0 {
				with++
			}
			for _, s := range steps {
				if !s.Provisional {
					final++
					break
				}
			}
		}
		t.Logf("%s: %.1f %% of series show a step, %.1f %% one that is not provisional", tt.what, 100*float64(with)/runs, 100*float64(final)/runs)
		if float64(final)/runs > tt.most {
			t.Errorf("%s: %d of %d series show a step", tt.what, final, runs)
		}
	}
}

// TestStepsFound: steps of 10 % under noise of 3 % are found, at the right place.
func TestStepsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	found, near, extra := 0, 0, 0
	const runs = 200
	for range runs {
		steps := Steps(series(rng, 100, 0.03, true, map[int]float64{40: 1.1, 75: 0.8}), 0.01)
		for _, want := range []int{40, 75} {
			for _, s := range steps {
				if d := s.At - want; d >= -2 && d <= 2 {
					near++
				}
				if d := s.At - want; d >= -6 && d <= 6 {
					found++
					break
				}
			}
		}
		extra += max(0, len(steps)-2)
	}
	t.Logf("found %.1f %%, within two of their place %.1f %%, %d others in %d series", 100*float64(found)/runs/2, 100*float64(near)/runs/2, extra, runs)
	if found < 2*runs*95/100 || near < 2*runs*85/100 || extra > runs*5/100 {
		t.Errorf("found %d of %d, %d near, %d others", found, 2*runs, near, extra)
	}
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		what   string
		values []float64
		want   []Step
	}{
		{"none", nil, nil},
		{"one value", []float64{1}, nil},
		{"not a number", []float64{1, math.NaN(), 1}, nil},
		{"exact", []float64{3, 3, 3, 4, 4, 4}, []Step{{At: 3, Before: 3, After: 4}}},
		{"exact from nothing", []float64{0, 0, 0, 2, 2, 2}, []Step{{At: 3, Before: 0, After: 2}}},
		{"exact, the last one", []float64{3, 3, 3, 3, 4}, []Step{{At: 4, Before: 3, After: 4, Provisional: true}}},
		{"all zero", []float64{0, 0, 0, 0}, nil},
		{"an outlier", []float64{100, 101, 99, 100, 102, 170, 99, 100, 101, 100, 98, 101}, nil},
		{"less than the least", []float64{1000, 1000, 1000, 1001, 1001, 1001}, nil},
	} {
		got := Steps(tt.values, 0.01)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
			continue
		}
		for i := range got {
			got[i].P = 0
			if got[i] != tt.want[i] {
				t.Errorf("%s: %+v, want %+v", tt.what, got[i], tt.want[i])
			}
		}
	}
}

func BenchmarkSteps(b *testing.B) {
	values := series(rand.New(rand.NewPCG(5, 6)), 1000, 0.03, true, map[int]float64{300: 1.2})
	for b.Loop() {
		Steps(values, 0.01)
	}
}
