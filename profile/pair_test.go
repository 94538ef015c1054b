package profile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
)

func pair(t interface{ Fatal(...any) }, o profile.PairOptions, index int, ps ...*profile.Profile) *profile.Pairing {
	a, err := profile.NewPairer(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		if err := a.Add(p, index); err != nil {
			t.Fatal(err)
		}
	}
	return a.Pairing()
}

// pairDrawn makes a CPU profile of a few functions, some of the runtime, with recursion and inlining.
func pairDrawn(t *rapid.T, name string) *profile.Profile {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	names := []string{"main.a", "main.b", "runtime.mallocgc", "runtime.growslice", "internal/bytealg.Count", "memmove", "runtime/pprof.x"}
	for range rapid.IntRange(0, 8).Draw(t, name) {
		var stack []profile.FrameSpec
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		for i := range depth {
			fn := rapid.SampledFrom(names).Draw(t, "function")
			stack = append(stack, profile.FrameSpec{Function: fn, File: "/src/x/" + fn + ".go", Line: int64(rapid.IntRange(1, 2).Draw(t, "line")), Inlined: i < depth-1 && rapid.Bool().Draw(t, "inlined")})
		}
		n := int64(rapid.IntRange(1, 9).Draw(t, "samples"))
		b.Add(stack, n, n*10_000_000)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPairingAgreesWithTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := []*profile.Profile{pairDrawn(t, "old"), pairDrawn(t, "new")}
		g := profile.Granularity(rapid.IntRange(0, 3).Draw(t, "granularity"))
		for measure, value := range map[profile.Measure]func(profile.Row) int64{
			profile.Flat: func(r profile.Row) int64 { return r.Flat },
			profile.Cum:  func(r profile.Row) int64 { return r.Cum },
		} {
			got := pair(t, profile.PairOptions{Granularity: g, Measure: measure}, 1, ps...)
			for i, p := range ps {
				want := map[string]int64{}
				top, err := p.Top(profile.TopOptions{SampleIndex: 1, Granularity: g})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range top.Rows {
					if v := value(r); v != 0 {
						want[fmt.Sprint(r.Name, r.File[strings.LastIndexByte(r.File, '/')+1:], r.Line)] += v
					}
				}
				for _, r := range got.Rows {
					c := r.Costs[i]
					if math.Abs(c.Variance-float64(c.Value)*1e7) > 1e-3*c.Variance {
						t.Errorf("%v: variance %g of %d", r.Frame, c.Variance, c.Value)
					}
					k := fmt.Sprint(r.Name, r.File[strings.LastIndexByte(r.File, '/')+1:], r.Line)
					if c.Value != want[k] {
						t.Errorf("measure %d, profile %d, %s: %d, want %d", measure, i, k, c.Value, want[k])
					}
					delete(want, k)
				}
				if len(want) > 0 {
					t.Errorf("measure %d, profile %d: no rows for %v", measure, i, want)
				}
				if got.Totals[i].Value != p.Total(1) {
					t.Errorf("total %d of %d", got.Totals[i].Value, p.Total(1))
				}
			}
		}
	})
}

// Every sample has one owner and one path, and the path ends with the owner.
func TestPathsAddUpToOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := []*profile.Profile{pairDrawn(t, "old"), pairDrawn(t, "new"), pairDrawn(t, "newer")}
		for _, measure := range []profile.Measure{profile.Own, profile.Flat} {
			owners := pair(t, profile.PairOptions{Measure: measure}, 1, ps...)
			paths := pair(t, profile.PairOptions{Measure: measure, Paths: true}, 1, ps...)
			for i := range ps {
				sums := map[string]int64{}
				for n, r := range paths.Rows {
					if path := paths.Path(n); path[len(path)-1] != r.Frame {
						t.Errorf("path %v does not end with %v", path, r.Frame)
					}
					sums[r.Name] += r.Costs[i].Value
				}
				var all int64
				for n, r := range owners.Rows {
					if owners.Path(n) != nil {
						t.Errorf("%s has a path", r.Name)
					}
					all += r.Costs[i].Value
					if sums[r.Name] != r.Costs[i].Value {
						t.Errorf("%s: %d, by paths %d", r.Name, r.Costs[i].Value, sums[r.Name])
					}
				}
				if all != owners.Totals[i].Value {
					t.Errorf("owners add up to %d of %d", all, owners.Totals[i].Value)
				}
			}
		}
	})
}

func TestOwnersOfTheRuntimesWork(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"main.a", "main.a"},
		{"runtime.mallocgc runtime.growslice main.a main.main", "main.a"},
		{"memmove runtime.growslice strings.Repeat main.a", "strings.Repeat"},
		{"internal/bytealg.Count strings.Count main.a", "strings.Count"},
		{"internal/runtime/syscall/linux.Syscall6 syscall.write internal/poll.(*FD).Write net.(*netFD).Write main.a", "net.(*netFD).Write"},
		{"sync.(*Mutex).Unlock main.a", "main.a"},
		{"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker", "runtime.gcBgMarkWorker"},
		{"runtime/pprof.x runtime.y", "runtime/pprof.x"},
		{"example.com/internal/x.F main.a", "example.com/internal/x.F"},
		{"runtime.memmove gopkg.in/yaml%2ev3.parse main.a", "gopkg.in/yaml%2ev3.parse"},
	} {
		b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
		var stack []profile.FrameSpec
		for _, f := range strings.Fields(c.stack) {
			stack = append(stack, profile.FrameSpec{Function: f, File: "x.go", Line: 1})
		}
		b.Add(stack, 10)
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		got := pair(t, profile.PairOptions{}, 0, p)
		if len(got.Rows) != 1 || got.Rows[0].Name != c.want {
			t.Errorf("%s: charged to %v, want %s", c.stack, got.Rows, c.want)
		}
	}
}

func TestScatterOfSampledBytes(t *testing.T) {
	const rate = 512 << 10
	types := []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	b := profile.NewBuilder(types...)
	// 40 objects were seen of a size that is seen half the time, so 80 are reported.
	size := int64(math.Round(math.Ln2 * rate))
	b.Add([]profile.FrameSpec{{Function: "main.a"}}, 80, 80*size)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Scatter(1); got != profile.NoScatter {
		t.Errorf("without a rate: %d", got)
	}
	p.Period, p.PeriodType = rate, profile.ValueType{Type: "space", Unit: "bytes"}
	for index, unit := range []float64{1, float64(size)} {
		got := pair(t, profile.PairOptions{}, index, p)
		if want := 80 * unit * unit; got.Scatter != profile.SampledBytes || math.Abs(got.Rows[0].Costs[0].Variance-want) > 1e-4*want {
			t.Errorf("column %d: scatter %d, variance %g, want %g", index, got.Scatter, got.Rows[0].Costs[0].Variance, want)
		}
	}
}

func TestScatterByTypes(t *testing.T) {
	for _, c := range []struct {
		types string
		index int
		want  profile.Scatter
		// variance of a row of 4 in the first column and 40 in the second
		variance float64
	}{
		{"samples/count cpu/nanoseconds", 0, profile.Sampled, 4},
		{"samples/count cpu/nanoseconds", 1, profile.Sampled, 400},
		{"contentions/count delay/nanoseconds", 0, profile.Counted, 4},
		{"contentions/count delay/nanoseconds", 1, profile.Delays, 800},
		{"goroutine/count x/y", 0, profile.Counted, 4},
		{"x/y wall/nanoseconds", 1, profile.NoScatter, 0},
		{"x/y delay/nanoseconds", 1, profile.NoScatter, 0},
		{"x/y inuse_space/bytes", 1, profile.NoScatter, 0},
	} {
		var types []profile.ValueType
		for _, f := range strings.Fields(c.types) {
			name, unit, _ := strings.Cut(f, "/")
			types = append(types, profile.ValueType{Type: name, Unit: unit})
		}
		b := profile.NewBuilder(types...)
		b.Add([]profile.FrameSpec{{Function: "main.a"}}, 4, 40)
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		got := pair(t, profile.PairOptions{}, c.index, p)
		if got.Scatter != c.want || got.Rows[0].Costs[0].Variance != c.variance {
			t.Errorf("%s[%d]: scatter %d, variance %g", c.types, c.index, got.Scatter, got.Rows[0].Costs[0].Variance)
		}
	}
}

func TestPairingRefuses(t *testing.T) {
	if _, err := profile.NewPairer(profile.PairOptions{Paths: true, Measure: profile.Cum}); err == nil {
		t.Error("cumulative paths are paired")
	}
	a, _ := profile.NewPairer(profile.PairOptions{})
	p := small(t)
	if err := a.Add(p, 2); err == nil || !strings.Contains(err.Error(), "outside 0 to 1") {
		t.Errorf("column 2: %v", err)
	}
	if err := a.Add(p, 1); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(p, 0); err == nil || !strings.Contains(err.Error(), "samples/count beside one of cpu/nanoseconds") {
		t.Errorf("another type: %v", err)
	}
}

func BenchmarkPair(b *testing.B) {
	p, q := decoded(b, walks(b, 1)), decoded(b, walks(b, 2))
	for _, c := range []struct {
		name string
		o    profile.PairOptions
	}{{"own", profile.PairOptions{}}, {"cum", profile.PairOptions{Measure: profile.Cum}}, {"paths", profile.PairOptions{Paths: true}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pair(b, c.o, 1, p, q)
			}
		})
	}
}
