package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got == want {
		return
	}
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

// The limits in the 95 % columns of Pearson and Hartley's table of Poisson limits.
func TestPoissonMatchesPublishedLimits(t *testing.T) {
	for _, c := range []struct {
		n         int64
		low, high float64
	}{
		{0, 0, 3.689}, {1, 0.0253, 5.572}, {2, 0.2422, 7.225}, {5, 1.623, 11.668},
		{10, 4.795, 18.390}, {20, 12.217, 30.888}, {50, 37.111, 65.919}, {100, 81.364, 121.627},
	} {
		got := Poisson(c.n)
		near(t, "value", got.Value, float64(c.n), 0)
		near(t, "low", got.Low, c.low, 6e-4)
		near(t, "high", got.High, c.high, 6e-4)
	}
}

func TestPoissonIsSmoothWhereItsMethodChanges(t *testing.T) {
	for _, p := range []float64{0.025, 0.975} {
		exact, approximate := gammaQuantile(manyEvents, p), gammaQuantile(manyEvents+1e-6, p)
		near(t, "quantile", approximate, exact, 1e-6*2*z95*math.Sqrt(manyEvents))
	}
	big := Poisson(1e15)
	near(t, "relative width of 1e15 events", (big.High-big.Low)/2/math.Sqrt(1e15), z95, 1e-3)
}

// Coverage is summed over all counts, not simulated.
func TestPoissonCoversAtLeast95Percent(t *testing.T) {
	for mean := 0.05; mean < 60; mean *= 1.17 {
		covered := 0.0
		for n, p := 0.0, math.Exp(-mean); n < 300; n++ {
			if i := Poisson(int64(n)); i.Low <= mean && mean <= i.High {
				covered += p
			}
			p *= mean / (n + 1)
		}
		if covered < 0.95 {
			t.Errorf("mean %.3f is covered in %.4f of cases", mean, covered)
		}
	}
}

// Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17,
// 1998, table I.
func TestShareMatchesPublishedLimits(t *testing.T) {
	for _, c := range []struct {
		k, n      int64
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
		{20, 20, 0.8389, 1},
	} {
		got := Share(c.k, c.n)
		near(t, "value", got.Value, float64(c.k)/float64(c.n), 1e-15)
		near(t, "low", got.Low, c.low, 6e-5)
		near(t, "high", got.High, c.high, 6e-5)
	}
}

func TestShareCovers95PercentOnAverage(t *testing.T) {
	const n = 40
	sum, steps := 0.0, 0
	for p := 0.05; p < 0.96; p += 0.01 {
		weight := math.Pow(1-p, n)
		for k := range int64(n + 1) {
			if i := Share(k, n); i.Low <= p && p <= i.High {
				sum += weight
			}
			weight *= p / (1 - p) * float64(n-k) / float64(k+1)
		}
		steps++
	}
	near(t, "mean coverage", sum/float64(steps), 0.95, 0.008)
}

func TestUnknownIsUnbounded(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	unknown := func(what string, i Interval) {
		t.Helper()
		if !math.IsNaN(i.Value) || i.Low != 0 || !math.IsInf(i.High, 1) || i.Known() {
			t.Errorf("%s = %v, want no value in [0, +Inf)", what, i)
		}
	}
	unknown("Unknown", Unknown())
	unknown("Poisson(-1)", Poisson(-1))
	unknown("Sum of a NaN", Sum(Count{nan, 1}))
	unknown("Sum of a negative count", Sum(Count{-1, 1}))
	unknown("Sum of an infinite weight", Sum(Count{1, inf}))
	unknown("Add", Add(Poisson(3), Unknown()))
	unknown("Mul", Mul(Poisson(3), Unknown()))
	for _, s := range [][]float64{nil, {}, {nan, 1, 2, 3}, {1, 2, inf, 4}} {
		for _, f := range []func(a, b []float64) (Interval, float64){MedianRatio, MeanRatio} {
			i, p := f(s, []float64{1, 2, 3, 4})
			unknown("ratio to a bad sample", i)
			near(t, "its p", p, 1, 0)
			i, p = f([]float64{1, 2, 3, 4}, s)
			unknown("ratio of a bad sample", i)
			near(t, "its p", p, 1, 0)
		}
	}
	for _, i := range []Interval{Share(0, 0), Share(-1, 5), Share(6, 5), Part(Unknown(), Poisson(1)), Part(Sum(), Sum())} {
		if !math.IsNaN(i.Value) || i.Low != 0 || i.High != 1 {
			t.Errorf("part of nothing = %v, want no value in [0, 1]", i)
		}
	}
}

func TestJSONWritesUnboundedAsNull(t *testing.T) {
	for want, i := range map[string]Interval{
		`{"value":3,"low":1,"high":7.5}`:         {3, 1, 7.5},
		`{"value":3,"low":0,"high":null}`:        {3, 0, math.Inf(1)},
		`{"value":null,"low":null,"high":null}`:  {math.NaN(), math.Inf(-1), math.Inf(1)},
		`{"value":0,"low":0,"high":3.688879454}`: {0, 0, 3.688879454},
	} {
		got, err := json.Marshal(i)
		if err != nil || string(got) != want {
			t.Errorf("Marshal(%v) = %s, %v; want %s", i, got, err, want)
		}
		var back Interval
		if err := json.Unmarshal(got, &back); err != nil {
			t.Error(err)
		}
		if back != i && !(math.IsNaN(back.Value) && math.IsNaN(i.Value) && back.Low == i.Low && back.High == i.High) {
			t.Errorf("%v came back as %v", i, back)
		}
	}
	var i Interval
	if err := json.Unmarshal([]byte(`{"value":"x"}`), &i); err == nil {
		t.Error("a value that is not a number was read")
	}
}

func TestSumOfEqualWeightsIsPoisson(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(0, 500), 1, 6).Draw(t, "counts")
		weight := rapid.Float64Range(1e-3, 1e6).Draw(t, "weight")
		var counts []Count
		var n int64
		for _, x := range ns {
			counts = append(counts, Count{float64(x), weight})
			n += x
		}
		got, want := Sum(counts...), Poisson(n).Scale(weight)
		for _, d := range []float64{got.Value - want.Value, got.Low - want.Low, got.High - want.High} {
			if math.Abs(d) > 1e-9*want.High {
				t.Fatalf("Sum = %v, want %v", got, want)
			}
		}
	})
}

func TestCombine(t *testing.T) {
	for _, c := range []struct{ a, b, want Interval }{
		{Interval{10, 9, 11}, Interval{10, 9, 11}, Interval{10, 10 - math.Sqrt(0.5), 10 + math.Sqrt(0.5)}},
		{Interval{10, 8, 12}, Interval{11, 10, 12}, Interval{10.8, 10.8 - math.Sqrt(0.8), 10.8 + math.Sqrt(0.8)}},
		{Interval{10, 10, 10}, Interval{11, 10, 12}, Interval{10, 10, 10}},
		{Unknown(), Interval{11, 10, 12}, Interval{11, 10, 12}},
		{Interval{11, 10, 12}, Unknown(), Interval{11, 10, 12}},
		// Further apart than their widths allow: half of the distance, in standard errors.
		{Interval{0, -1, 1}, Interval{4, 3, 5}, Interval{2, 2 - 2*z95, 2 + 2*z95}},
	} {
		got := Combine(c.a, c.b)
		if math.Abs(got.Value-c.want.Value) > 1e-12 || math.Abs(got.Low-c.want.Low) > 1e-12 || math.Abs(got.High-c.want.High) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if got := Combine(Unknown(), Unknown()); got.Known() {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSumOfNothing(t *testing.T) {
	if got := Sum(); got != (Interval{}) {
		t.Errorf("Sum() = %v, want exactly 0", got)
	}
	got := Sum(Count{0, 2}, Count{0, 3})
	near(t, "high of nothing seen", got.High, 3*3.68888, 1e-4)
}

// coverage is the share of trials whose interval contains the truth.
func coverage(seed uint64, truth float64, draw func(*rand.Rand) Interval) float64 {
	const trials = 4000
	r := rand.New(rand.NewPCG(seed, 1))
	held := 0
	for range trials {
		if i := draw(r); i.Low <= truth && truth <= i.High {
			held++
		}
	}
	return float64(held) / trials
}

// poisson draws a number by counting exponential waits.
func poisson(r *rand.Rand, mean float64) float64 {
	n := -1.0
	for t := 0.0; t < mean; n++ {
		t += r.ExpFloat64()
	}
	return n
}

// Three standard errors of a share of 4000 trials are 1 %.
func TestIntervalsCoverTheTruthInSimulation(t *testing.T) {
	for _, c := range []struct {
		name     string
		got      float64
		low, top float64
	}{
		{"weighted sum", coverage(1, 10*7+3*20+1*30, func(r *rand.Rand) Interval {
			return Sum(Count{poisson(r, 10), 7}, Count{poisson(r, 20), 3}, Count{poisson(r, 30), 1})
		}), 0.94, 0.98},
		{"sum of sums", coverage(2, 5+40, func(r *rand.Rand) Interval {
			return Add(Poisson(int64(poisson(r, 5))), Poisson(int64(poisson(r, 40))))
		}), 0.94, 0.98},
		{"product", coverage(3, 12*40, func(r *rand.Rand) Interval {
			return Mul(Poisson(int64(poisson(r, 12))), Poisson(int64(poisson(r, 40))))
		}), 0.94, 0.985},
		{"part", coverage(4, 0.2, func(r *rand.Rand) Interval {
			return Part(Poisson(int64(poisson(r, 10))), Poisson(int64(poisson(r, 40))))
		}), 0.94, 0.985},
		{"median ratio of skewed samples", coverage(5, 1.3, func(r *rand.Rand) Interval {
			i, _ := MedianRatio(logNormal(r, 8, 1), logNormal(r, 10, 1.3))
			return i
		}), 0.94, 0.975},
		{"median ratio of large samples", coverage(6, 0.9, func(r *rand.Rand) Interval {
			i, _ := MedianRatio(logNormal(r, 35, 1), logNormal(r, 40, 0.9))
			return i
		}), 0.94, 0.96},
		{"mean ratio of unlike scatter", coverage(7, 1.1, func(r *rand.Rand) Interval {
			i, _ := MeanRatio(normal(r, 5, 100, 5), normal(r, 8, 110, 15))
			return i
		}), 0.935, 0.965},
	} {
		if c.got < c.low || c.got > c.top {
			t.Errorf("%s: the interval held the truth in %.4f of trials, want %.3f to %.3f", c.name, c.got, c.low, c.top)
		}
	}
}

func logNormal(r *rand.Rand, n int, scale float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = scale * math.Exp(0.5*r.NormFloat64())
	}
	return xs
}

func normal(r *rand.Rand, n int, mean, sd float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = mean + sd*r.NormFloat64()
	}
	return xs
}

func TestIntervalsStayInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 1000)
		a, b := Poisson(count.Draw(t, "a")), Poisson(count.Draw(t, "b"))
		for _, i := range []Interval{Add(a, b), Mul(a, b), Part(a, b), Sum(Count{a.Value, 3}, Count{b.Value, 0.1})} {
			if !(0 <= i.Low || math.Abs(i.Low) < 1e-9) || i.Low > i.Value*(1+1e-12) || i.Value > i.High*(1+1e-12) {
				if !math.IsNaN(i.Value) {
					t.Fatalf("%v is out of order", i)
				}
			}
		}
		if p := Part(a, b); p.High > 1 {
			t.Fatalf("a part of %v", p)
		}
	})
}

func TestGammaQuantileInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := math.Exp(rapid.Float64Range(-1.5, 11.5).Draw(t, "log of the shape"))
		p := rapid.SampledFrom([]float64{0.025, 0.975}).Draw(t, "p")
		x := gammaQuantile(a, p)
		if got := gammaP(a, x); math.Abs(got-p) > 1e-9 {
			t.Errorf("shape %g: P(%g) = %.12g, want %g", a, x, got, p)
		}
	})
}

// Where betaI uses the symmetry relation, rounding must not make it recurse forever.
func TestBetaAtItsBorder(t *testing.T) {
	for a := 0.5; a < 40; a += 0.5 {
		for b := 0.5; b < 40; b += 0.5 {
			x := (a + 1) / (a + b + 2)
			for _, x := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, 1)} {
				near(t, "both sides", betaI(a, b, x)+betaI(b, a, 1-x), 1, 1e-9)
			}
		}
	}
	// Both are beyond their side's border.
	b, x := math.Float64frombits(0x403cffffffffffff), math.Float64frombits(0x3fb745d1745d1748)
	near(t, "both sides", betaI(2, b, x)+betaI(b, 2, 1-x), 1, 1e-9)
}
