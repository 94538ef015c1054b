package site

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/stats"
)

func TestPriceIsCPUPlusTheShareOfBytes(t *testing.T) {
	table := mustJoin(t, Input{
		CPU: build(t, cpu,
			ticks(30, "main.f:1"), ticks(20, "runtime.mallocgc < main.f:1"), ticks(50, "main.g:2"),
			ticks(40, "runtime.gcDrainMarkWorkerDedicated < runtime.gcBgMarkWorker"), ticks(50, "runtime.gcAssistAlloc < runtime.mallocgc < main.g:2"),
			ticks(10, "runtime.bgsweep"), ticks(70, "runtime.gcDrainMarkWorkerIdle < runtime.gcBgMarkWorker")),
		Allocs: build(t, allocs, objects(1e6, 1024, "main.f:1"), objects(3e6, 1024, "main.g:2")),
	})
	for _, s := range table.Sites {
		got, i := table.Price(s.CPU, s.Allocs)
		if got.GCSeconds != s.Cost.GCSeconds || got.CPUSeconds != s.Cost.CPUSeconds || got != s.Cost {
			t.Errorf("%s: priced %+v, charged %+v", s.Function, got, s.Cost)
		}
		if math.Abs(i.Value-(s.Cost.CPUSeconds+s.Cost.GCSeconds)) > 1e-9 || !(i.Low < i.Value && i.Value < i.High) {
			t.Errorf("%s: interval %v of %v", s.Function, i, s.Cost.CPUSeconds+s.Cost.GCSeconds)
		}
		want := map[string]Cost{
			"main.f": {Samples: 50, CPUSeconds: 0.5, MallocSeconds: 0.2, GCSeconds: 0.425, AllocBytes: 1024e6, AllocObjects: 1e6},
			"main.g": {Samples: 50, CPUSeconds: 0.5, GCSeconds: 1.275, AllocBytes: 3072e6, AllocObjects: 3e6},
		}[s.Function]
		if math.Abs(got.GCSeconds-want.GCSeconds) > 1e-12 || math.Abs(got.MallocSeconds-want.MallocSeconds) > 1e-12 {
			t.Errorf("%s costs %+v, want %+v", s.Function, got, want)
		}
	}
	work := table.GCWork()
	if math.Abs(work.Value-1.7) > 1e-12 || math.Abs(work.Low-1.4538) > 1e-3 || math.Abs(work.High-1.9756) > 1e-3 {
		t.Errorf("the collector's work is %v, want 1.7 s with the limits of 170 samples", work)
	}
}

func TestPriceOfNothingIsBounded(t *testing.T) {
	in := Input{CPU: build(t, cpu, ticks(1000, "main.f:1"), ticks(100, "runtime.bgsweep"))}
	noAllocs := mustJoin(t, in)
	c, i := noAllocs.Price(nil, nil)
	if c != (Cost{}) || i.Value != 0 || i.Low != 0 || i.High < 1 || !i.Known() {
		t.Errorf("without an allocs profile nothing costs %+v, %v; want up to all of the collector's second", c, i)
	}
	in.Allocs = build(t, allocs, objects(1e6, 1024, "main.f:1"))
	c, i = mustJoin(t, in).Price(nil, nil)
	if c != (Cost{}) || i.Value != 0 || i.High <= 0 || i.High > 0.05 {
		t.Errorf("nothing costs %+v, %v; want up to some samples", c, i)
	}
	_, i = mustJoin(t, Input{Allocs: in.Allocs}).Price(nil, nil)
	if i.Known() {
		t.Errorf("without a CPU profile the price is %v", i)
	}
	if w := mustJoin(t, Input{Allocs: in.Allocs}).GCWork(); w.Known() {
		t.Errorf("without a CPU profile the collector's work is %v", w)
	}
}

func TestMoreRowsNeverCostLess(t *testing.T) {
	code := testIndex(t)
	rapid.Check(t, func(rt *rapid.T) {
		table := mustJoin(t, Input{Code: code, CPU: build(t, cpu, drawProfile(rt, cpu, "cpu")...), Allocs: build(t, allocs, drawProfile(rt, allocs, "allocs")...)})
		var c, a []*Row
		last := stats.Interval{}
		for _, s := range table.Sites {
			c, a = append(c, s.CPU...), append(a, s.Allocs...)
			_, i := table.Price(c, a)
			if i.Value < last.Value-1e-9 || i.Low < -1e-9 || i.Low > i.Value+1e-9 || i.Value > i.High+1e-9 {
				rt.Fatalf("%v after %v", i, last)
			}
			last = i
		}
	})
}

// The bytes of a sampled profile vary as tally says: objects are allocated, sampled as the runtime
// samples them, and scaled back as the profile does.
func TestByteIntervalsCoverTheTruth(t *testing.T) {
	const rate, trials = 512 << 10, 2000
	r := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		size  float64
		count int
	}{{64 << 10, 160}, {256 << 10, 40}, {1 << 20, 12}} {
		held := 0
		p := -math.Expm1(-c.size / rate)
		for range trials {
			seen := 0
			for range c.count {
				if r.Float64() < p {
					seen++
				}
			}
			row := &Row{Count: int64(float64(seen) / p), Value: int64(float64(seen) * c.size / p)}
			var sum tally
			sum.add(row, rate)
			if i, truth := sum.interval(rate), c.size*float64(c.count); i.Low <= truth && truth <= i.High {
				held++
			}
		}
		if share := float64(held) / trials; share < 0.92 {
			t.Errorf("%d objects of %.0f bytes: the truth was held in %.3f of trials", c.count, c.size, share)
		}
	}
}

func TestAnExactProfileHasNoSamplingError(t *testing.T) {
	var sum tally
	sum.add(&Row{Count: 3, Value: 300}, 1)
	if i := sum.interval(1); i != (stats.Interval{Value: 300, Low: 300, High: 300}) {
		t.Errorf("at rate 1 the bytes are %v", i)
	}
}

// The share is more precise than its count of samples: the total is a count of the same samples.
func TestShareCoversTheTruth(t *testing.T) {
	const trials = 500
	r := rand.New(rand.NewPCG(11, 13))
	for _, want := range []float64{0.02, 0.3, 0.7} {
		held, width, alone := 0, 0.0, 0.0
		// Of a thousand samples a tenth are collection; the rows have half of the bytes, and as
		// much CPU as makes the same share of all.
		own := 1000*want - 50
		if own < 0 {
			own = 1000*want - 0.1*100
		}
		bytes := 0.5
		if want < 0.05 {
			bytes = 0.1
		}
		for range trials {
			mine, gc, rest := poisson(r, own), poisson(r, 100), poisson(r, 900-own)
			table := mustJoin(t, Input{
				CPU: build(t, cpu, ticks(mine, "main.f:1"), ticks(rest, "main.g:2"),
					ticks(gc, "runtime.gcDrainMarkWorkerDedicated < runtime.gcBgMarkWorker")),
				Allocs: build(t, allocs, objects(int64(1e8*bytes), 1024, "main.f:1"), objects(int64(1e8*(1-bytes)), 1024, "main.g:2")),
			})
			for _, s := range table.Sites {
				if s.Function != "main.f" {
					continue
				}
				i := table.Share(s.CPU, s.Allocs)
				if i.Low <= want && want <= i.High {
					held++
				}
				_, seconds := table.Price(s.CPU, s.Allocs)
				width += i.High - i.Low
				alone += (seconds.High - seconds.Low) / table.Totals.TotalSeconds
			}
		}
		if share := float64(held) / trials; share < 0.92 {
			t.Errorf("a share of %.2f was held in %.3f of trials", want, share)
		}
		if want > 0.5 && width > 0.7*alone {
			t.Errorf("a share of %.2f is bounded by %.3f, its seconds alone by %.3f", want, width/trials, alone/trials)
		}
	}
}

// poisson draws a count.
func poisson(r *rand.Rand, mean float64) int64 {
	n, sum := int64(0), r.ExpFloat64()
	for sum < mean {
		n++
		sum += r.ExpFloat64()
	}
	return n
}

func TestShareWithoutEvidenceIsNotBounded(t *testing.T) {
	table := mustJoin(t, Input{Allocs: build(t, allocs, objects(1e6, 1024, "main.f:1"))})
	if i := table.Share(nil, nil); !math.IsNaN(i.Value) || i.Low != 0 || i.High != 1 {
		t.Errorf("without a CPU profile %v", i)
	}
	table = mustJoin(t, Input{CPU: build(t, cpu, ticks(90, "main.f:1"), ticks(10, "runtime.bgsweep"))})
	if i := table.Share(nil, nil); i.Value != 0 || i.Low != 0 || i.High < 0.1 || i.High > 0.15 {
		t.Errorf("without an allocs profile no rows have %v; want up to all of the collector's tenth", i)
	}
}
