package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func counted(n int, weight, exposure float64) Tally {
	return Tally{Value: float64(n) * weight, Variance: float64(n) * weight * weight, Exposure: exposure}
}

// binomialTest is the conditional test as an explicit sum.
func binomialTest(n, m int, share float64) float64 {
	var below, above float64
	for k := 0; k <= n+m; k++ {
		a, _ := math.Lgamma(float64(n + m + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n + m - k + 1))
		p := math.Exp(a - b - c + float64(k)*math.Log(share) + float64(n+m-k)*math.Log1p(-share))
		if k <= m {
			below += p
		}
		if k >= m {
			above += p
		}
	}
	return math.Min(1, 2*math.Min(below, above))
}

func TestRateDifferenceIsTheConditionalBinomialTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 60).Draw(t, "old"), rapid.IntRange(0, 60).Draw(t, "new")
		e, f := rapid.Float64Range(0.5, 5).Draw(t, "old exposure"), rapid.Float64Range(0.5, 5).Draw(t, "new exposure")
		w := rapid.Float64Range(1e-3, 1e9).Draw(t, "weight")
		if n+m == 0 {
			return
		}
		d := RateDifference(counted(n, w, e), counted(m, w, f))
		share := f / (e + f)
		if want := binomialTest(n, m, share); math.Abs(d.P-want) > 1e-9 {
			t.Errorf("p = %g, want %g", d.P, want)
		}
		if d.LeastP > d.P*(1+1e-9) {
			t.Errorf("least p %g above p %g", d.LeastP, d.P)
		}
		value := float64(m)*w/f - float64(n)*w/e
		if math.Abs(d.Value-value) > 1e-9*w*float64(n+m) || d.Low > d.Value || d.High < d.Value {
			t.Errorf("difference %v, want %g inside", d.Interval, value)
		}
		// If old and new are swapped, the difference changes its sign.
		r := RateDifference(counted(m, w, f), counted(n, w, e))
		if math.Abs(r.P-d.P) > 1e-9 || math.Abs(r.Low+d.High) > 1e-9*math.Abs(d.High) {
			t.Errorf("swapped: %v p %g, was %v p %g", r.Interval, r.P, d.Interval, d.P)
		}
	})
}

func TestRateDifferenceOfInvalidCounts(t *testing.T) {
	good := counted(5, 1, 1)
	for _, bad := range []Tally{{}, {1, 1, 0}, {-1, 1, 1}, {0, 1, 1}, {math.NaN(), 1, 1}, {1, math.Inf(1), 1}, {1, 1, -2}} {
		for _, d := range []Difference{RateDifference(bad, good), RateDifference(good, bad)} {
			if d.P != 1 || !math.IsInf(d.Low, -1) || !math.IsInf(d.High, 1) {
				t.Errorf("%+v: %+v", bad, d)
			}
		}
	}
}

func TestRateDifferenceOfExactTallies(t *testing.T) {
	if d := RateDifference(Tally{3, 0, 1}, Tally{3, 0, 1}); d.P != 1 || d.Interval != (Interval{}) {
		t.Errorf("equal: %+v", d)
	}
	if d := RateDifference(Tally{3, 0, 1}, Tally{4, 0, 1}); d.P != 0 || d.Interval != (Interval{1, 1, 1}) {
		t.Errorf("unequal: %+v", d)
	}
	if d := RateDifference(Tally{100, 0, 1}, counted(100, 1, 1)); d.P != 1 || math.Abs(d.High-19.6) > 0.1 {
		t.Errorf("one side: %+v", d)
	}
}

func TestRateDifferenceIsSmoothWhereItsMethodChanges(t *testing.T) {
	n := int(manyTrials / 2)
	exact := RateDifference(counted(n-1500, 1, 1), counted(n+1500, 1, 1))
	normal := RateDifference(counted(n-1500+1, 1, 1), counted(n+1500+1, 1, 1))
	near(t, "p", exact.P, normal.P, 1e-5)
}

func TestPartlyKnownDifferenceAtItsEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, variance := rapid.Float64Range(-5, 5).Draw(t, "value"), rapid.Float64Range(0.1, 5).Draw(t, "variance")
		df := rapid.Float64Range(1, 30).Draw(t, "df")
		_, normal := PartlyKnownDifference(value, variance, 0, 0)
		if want := math.Erfc(math.Abs(value) / math.Sqrt(2*variance)); math.Abs(normal-want) > 1e-12 {
			t.Errorf("all known: p = %g, want %g", normal, want)
		}
		_, student := PartlyKnownDifference(value, 0, variance, df)
		if want := tTails(value/math.Sqrt(variance), df); math.Abs(student-want) > 1e-12 {
			t.Errorf("all estimated: p = %g, want %g", student, want)
		}
		d, p := PartlyKnownDifference(value, variance/2, variance/2, df)
		if p < normal-1e-7 || p > student+1e-7 { // betaI loses half of its digits where t is nearly 0
			t.Errorf("half known: p = %g outside %g to %g", p, normal, student)
		}
		if holds := d.Low <= 0 && 0 <= d.High; holds != (p > 0.05) && math.Abs(p-0.05) > 1e-6 {
			t.Errorf("%v and p = %g do not agree", d, p)
		}
	})
	for estimated := 1e-30; estimated < 1; estimated *= 10 {
		d, p := PartlyKnownDifference(1, 1, estimated, 4)
		if d.High < 1+z95-1e-6 || d.High > 6 || p < 0.31 || p > 0.6 {
			t.Errorf("estimated %g: %v, p %g", estimated, d, p)
		}
	}
	for _, bad := range [][4]float64{{1, -1, 1, 1}, {1, 1, 1, 0}, {math.NaN(), 1, 0, 0}, {1, 1, math.Inf(1), 3}} {
		if d, p := PartlyKnownDifference(bad[0], bad[1], bad[2], bad[3]); p != 1 || d.Known() {
			t.Errorf("%v: %v, %g", bad, d, p)
		}
	}
}

func TestFalseDiscoveryMatchesTheirExample(t *testing.T) {
	// Benjamini and Hochberg, section 3.2: 15 tests, of which 4 are discoveries at 5 %.
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	believed := 0
	for _, q := range FalseDiscovery(p) {
		if q <= 0.05 {
			believed++
		}
	}
	if believed != 4 {
		t.Errorf("%d believed, want 4", believed)
	}
}

func TestFalseDiscoveryIsTheStepUpProcedure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 30).Draw(t, "p")
		q := FalseDiscovery(p)
		level := rapid.Float64Range(0.001, 0.9).Draw(t, "level")
		// The procedure as the paper states it: the largest k with p(k) ≤ k/m × level.
		most := 0.0
		for _, limit := range p {
			k := 0
			for _, x := range p {
				if x <= limit {
					k++
				}
			}
			if limit <= float64(k)/float64(len(p))*level {
				most = math.Max(most, limit)
			}
		}
		for i, x := range p {
			if q[i] < x || q[i] > 1 {
				t.Errorf("adjusted %g of %g", q[i], x)
			}
			want := x <= most && (most > 0 || x == 0)
			if got := q[i] <= level; got != want && math.Abs(q[i]-level) > 1e-12 {
				t.Errorf("p %g: believed %v, want %v", x, got, want)
			}
			for j, y := range p {
				if x < y && q[i] > q[j] {
					t.Errorf("order: %g→%g, %g→%g", x, q[i], y, q[j])
				}
			}
		}
	})
}

func TestFalseDiscoveryOfOddities(t *testing.T) {
	if len(FalseDiscovery(nil)) != 0 {
		t.Error("nothing adjusted is something")
	}
	q := FalseDiscovery([]float64{math.NaN(), 0.01, -1, 7})
	if q[0] != 1 || q[1] != 0.02 || q[2] != 0 || q[3] != 1 {
		t.Errorf("%v", q)
	}
}

// When nothing differs, families have a discovery at most as often as the level allows.
func TestNoFalseDiscoveryInEqualRates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const families, level = 400, 0.05
	alarms := 0
	for range families {
		var ps []float64
		for mean := 0.5; mean < 300; mean *= 1.2 {
			d := RateDifference(counted(int(poisson(r, mean)), 1e7, 1), counted(int(poisson(r, 2*mean)), 1e7, 2))
			ps = append(ps, d.P)
		}
		for _, q := range FalseDiscovery(ps) {
			if q <= level {
				alarms++
				break
			}
		}
	}
	if got := float64(alarms) / families; got > level {
		t.Errorf("%.3f of families have a false alarm, allowed %.3f", got, level)
	}
}

func TestMean(t *testing.T) {
	// Student's t with 2 degrees of freedom: 4.3027 standard errors.
	got := Mean([]float64{1, 2, 3})
	if half := 4.302653 / math.Sqrt(3); math.Abs(got.Value-2) > 1e-12 || math.Abs(got.High-2-half) > 1e-5 || math.Abs(2-got.Low-half) > 1e-5 {
		t.Errorf("%v", got)
	}
	if got := Mean([]float64{4, 4}); got != (Interval{4, 4, 4}) {
		t.Errorf("without scatter %v", got)
	}
	if got := Mean([]float64{7}); got.Value != 7 || !math.IsInf(got.High, 1) || !math.IsInf(got.Low, -1) {
		t.Errorf("one value %v", got)
	}
	for _, xs := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1), 2}} {
		if got := Mean(xs); got.Known() || !math.IsNaN(got.Value) {
			t.Errorf("%v has the mean %v", xs, got)
		}
	}
}

// The difference of pairs by Mean is the paired t-test: 95 of 100 intervals contain the truth.
func TestMeanCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	held := 0
	const trials = 4000
	for range trials {
		if i := Mean(normal(r, 5, 10, 3)); i.Low <= 10 && 10 <= i.High {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.94 || share > 0.96 {
		t.Errorf("the mean was held in %.3f of the trials", share)
	}
}
