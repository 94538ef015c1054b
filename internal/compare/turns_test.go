package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inTurns draws the CPU figures of two sides whose runs take turns on a machine that drifts.
func inTurns(rng *rand.Rand, runs int, factor float64) pair {
	var p pair
	drift := 0.0
	for range runs {
		for side, f := range []float64{1, factor} {
			drift += 0.02 * rng.NormFloat64()
			v := 70e-6 * f * math.Exp(drift+0.05*rng.NormFloat64())
			p.figures[side] = append(p.figures[side], figure{name: cleanPhase, metric: "cpu", unit: "s/request", kind: cpuTime, value: v})
		}
	}
	return p
}

// TestByRanks: of sides that are alike one in forty may get a verdict; a change of 20 % gets one.
func TestByRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		factor      float64
		least, most float64
	}{{1, 0, 0.03}, {0.8, 0.9, 1}} {
		const tries = 500
		called := 0
		for range tries {
			c := Comparison{Rows: []Row{{N: [2]int{6, 6}, kind: cpuTime, Old: 1, New: tt.factor, P: new(float64)}}}
			inTurns(rng, 6, tt.factor).byRanks(&c.Rows[0])
			c.decide()
			if v := c.Rows[0].Verdict; v == Better || v == Worse {
				called++
			}
		}
		share := float64(called) / tries
		t.Logf("factor %v: %.1f %% called changed", tt.factor, 100*share)
		if share < tt.least || share > tt.most {
			t.Errorf("factor %v: %.1f %% called changed, want %.0f to %.0f %%", tt.factor, 100*share, 100*tt.least, 100*tt.most)
		}
	}
}
