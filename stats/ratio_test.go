package stats

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

func TestTQuantilesMatchTables(t *testing.T) {
	for df, want := range map[float64]float64{1: 12.7062047, 2: 4.3026527, 5: 2.5705818, 10: 2.2281389, 30: 2.0422725, 1e6: 1.9599664} {
		near(t, "t", tQuantile975(df), want, 2e-7*want)
	}
}

// Permeability of the chorioamnion: Hollander and Wolfe, examples 4.1, 4.3 and 4.4 (shift -0.305,
// 96 % interval -0.76 to 0.15), here on logarithms.
func TestMedianRatioMatchesHollanderAndWolfe(t *testing.T) {
	x := exp(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
	y := exp(1.15, 0.88, 0.90, 0.74, 1.21)
	r, p := MedianRatio(x, y)
	near(t, "shift", math.Log(r.Value), -0.305, 1e-9)
	near(t, "low", math.Log(r.Low), -0.76, 1e-9)
	near(t, "high", math.Log(r.High), 0.15, 1e-9)
	near(t, "p", p, 0.2544, 1e-4)
}

func exp(xs ...float64) []float64 {
	for i := range xs {
		xs[i] = math.Exp(xs[i])
	}
	return xs
}

func TestMedianRatioAtTheEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name     string
		old, new []float64
		want     Interval
		p        float64
	}{
		{"three against three cannot tell", []float64{1, 1, 1}, []float64{2, 2, 2}, Interval{2, 0, inf}, 0.1},
		{"four against four can", []float64{1, 1, 1, 1}, []float64{2, 2, 2, 2}, Interval{2, 2, 2}, 2.0 / 70},
		{"all equal", []float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}, Interval{1, 1, 1}, 1},
		{"from something to nothing", []float64{1, 2, 3, 4}, []float64{0, 0, 0, 0}, Interval{0, 0, 0}, 2.0 / 70},
		{"nothing stays nothing", []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}, Interval{1, 1, 1}, 1},
		{"from nothing to something", []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, Interval{inf, inf, inf}, 2.0 / 70},
	} {
		got, p := MedianRatio(c.old, c.new)
		if got != c.want || math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%s: %v, p %v; want %v, p %v", c.name, got, p, c.want, c.p)
		}
	}
	got, p := MedianRatio([]float64{-1, 2, 3, 4}, []float64{5, 6, 7, 8})
	if !math.IsNaN(got.Value) || math.Abs(p-2.0/70) > 1e-12 {
		t.Errorf("negative values: %v, p %v; want a p without a ratio", got, p)
	}
}

// values draws samples in which ties are common.
func values(n int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		coarse := rapid.Bool().Draw(t, "coarse")
		xs := make([]float64, rapid.IntRange(2, n).Draw(t, "n"))
		for i := range xs {
			if coarse {
				xs[i] = float64(rapid.IntRange(1, 6).Draw(t, "x"))
			} else {
				xs[i] = rapid.Float64Range(0.5, 2).Draw(t, "x")
			}
		}
		return xs
	})
}

func TestPValuesMatchBenchmath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := values(14).Draw(t, "old"), values(14).Draw(t, "new")
		a := benchmath.NewSample(slices.Clone(old), &benchmath.DefaultThresholds)
		b := benchmath.NewSample(slices.Clone(new), &benchmath.DefaultThresholds)
		_, p := MedianRatio(old, new)
		// With ties, benchmath takes the larger tail from a whole step of U below, where half steps
		// occur; see TestTiesMatchEnumeration. It also doubles the smaller tail without stopping at
		// 1.
		if _, ties := midranks(a.Values, b.Values); ties == 0 {
			if want := min(1, benchmath.AssumeNothing.Compare(a, b).P); math.Abs(p-want) > 1e-9 {
				t.Fatalf("Mann-Whitney p = %v, benchmath says %v", p, want)
			}
		}
		_, p = MeanRatio(old, new)
		want := benchmath.AssumeNormal.Compare(a, b)
		if len(want.Warnings) == 0 && math.Abs(p-want.P) > 1e-9 {
			t.Fatalf("Welch p = %v, benchmath says %v", p, want.P)
		}
	})
}

// The p-value is the share of all permutations whose rank sum is at least as extreme.
func TestTiesMatchEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := values(6).Draw(t, "x"), values(6).Draw(t, "y")
		slices.Sort(x)
		slices.Sort(y)
		pooled := slices.Concat(x, y)
		u := func(inX func(i int) bool) (twice int) {
			for i, a := range pooled {
				for j, b := range pooled {
					switch {
					case !inX(i) || inX(j):
					case a > b:
						twice += 2
					case a == b:
						twice++
					}
				}
			}
			return twice
		}
		seen := u(func(i int) bool { return i < len(x) })
		var below, above, all float64
		for set := range uint(1) << len(pooled) {
			if bits.OnesCount(set) != len(x) {
				continue
			}
			v := u(func(i int) bool { return set>>i&1 == 1 })
			all++
			if v <= seen {
				below++
			}
			if v >= seen {
				above++
			}
		}
		want := min(1, 2*min(below, above)/all)
		if got := mannWhitney(x, y); math.Abs(got-want) > 1e-9 {
			t.Fatalf("p = %v, want %v", got, want)
		}
	})
}

func TestNormalApproximationMeetsTheExactTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(25, 30).Draw(t, "n"), rapid.IntRange(25, 30).Draw(t, "m")
		x, y := make([]float64, n), make([]float64, m)
		for i := range x {
			x[i] = float64(rapid.IntRange(0, 40).Draw(t, "x"))
		}
		for i := range y {
			y[i] = float64(rapid.IntRange(0, 40).Draw(t, "y"))
		}
		slices.Sort(x)
		slices.Sort(y)
		groups, ties := midranks(x, y)
		sum := 0
		for i, j := 0, 0; i < n; i++ {
			for groups[j].value != x[i] {
				j++
			}
			sum += groups[j].twice
		}
		exact, approximate := mannWhitney(x, y), mannWhitneyNormal(float64(n), float64(m), sum, ties)
		if math.Abs(exact-approximate) > 0.01 {
			t.Fatalf("exact %v, approximate %v", exact, approximate)
		}
	})
}

// The interval that needs no table of pairs equals the one that does.
func TestPairRatioMatchesTheSortedTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := values(9).Draw(t, "x"), values(9).Draw(t, "y")
		if rapid.Bool().Draw(t, "zeros") {
			x[0], y[0] = 0, 0
		}
		slices.Sort(x)
		slices.Sort(y)
		var all []float64
		for _, a := range x {
			for _, b := range y {
				all = append(all, quotient(b, a))
			}
		}
		slices.Sort(all)
		for k, want := range all {
			if got := pairRatio(x, y, k+1); got != want {
				t.Fatalf("ratio %d = %v, want %v", k+1, got, want)
			}
		}
	})
}

func TestMeanRatioHoldsOneExactlyWhenTheTestDoesNotReject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := values(10).Draw(t, "old"), values(10).Draw(t, "new")
		i, p := MeanRatio(old, new)
		if math.Abs(p-0.05) < 1e-6 {
			return
		}
		if holds := i.Low <= 1 && 1 <= i.High; holds != (p > 0.05) {
			t.Fatalf("%v with p = %v", i, p)
		}
	})
}

func TestPairedRatio(t *testing.T) {
	old := []float64{1, 2, 4, 8}
	if got := PairedRatio(old, []float64{1.5, 3, 6, 12}); math.Abs(got.Value-1.5) > 1e-12 || math.Abs(got.High-got.Low) > 1e-12 {
		t.Errorf("what drifts alike: %v, want 1.5 without width", got)
	}
	// Logarithms ±log 2 around 0: a standard error of log 2/√3, three degrees of freedom, t =
	// 3.1824.
	got := PairedRatio([]float64{1, 1, 1, 1}, []float64{2, 0.5, 2, 0.5})
	if want := math.Exp(3.182446 * math.Ln2 / math.Sqrt(3)); math.Abs(got.Value-1) > 1e-12 || math.Abs(got.High/want-1) > 1e-6 || math.Abs(got.Low*want-1) > 1e-6 {
		t.Errorf("%v, want 1 (%g to %g)", got, 1/want, want)
	}
	for _, bad := range [][2][]float64{{{1}, {1}}, {{1, 2}, {1}}, {{1, 0}, {1, 1}}, {{1, 1}, {-1, 1}}, {{1, math.Inf(1)}, {1, 1}}, {{1, math.NaN()}, {1, 1}}} {
		if got := PairedRatio(bad[0], bad[1]); got.Known() {
			t.Errorf("%v: %v", bad, got)
		}
	}
}

func TestMeanRatioWithoutScatter(t *testing.T) {
	for _, c := range []struct {
		new  float64
		want Interval
		p    float64
	}{{4, Interval{1, 1, 1}, 1}, {6, Interval{1.5, 1.5, 1.5}, 0}} {
		if got, p := MeanRatio([]float64{4, 4}, []float64{c.new, c.new}); got != c.want || p != c.p {
			t.Errorf("4 to %v: %v, p %v; want %v, p %v", c.new, got, p, c.want, c.p)
		}
	}
}

func BenchmarkMedianRatio(b *testing.B) {
	old, new := make([]float64, 20), make([]float64, 20)
	for i := range old {
		old[i], new[i] = 100+float64(i*7%20), 103+float64(i*11%20)
	}
	b.ReportAllocs()
	for b.Loop() {
		MedianRatio(old, new)
	}
}

func BenchmarkPoisson(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Poisson(1234)
	}
}
