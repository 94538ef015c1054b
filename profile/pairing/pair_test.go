package pairing_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/sampling"
)

func pair(t interface{ Fatal(...any) }, o pairing.Options, index int, ps ...*profile.Profile) *pairing.Table {
	a, err := pairing.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		if err := a.Add(p, index); err != nil {
			t.Fatal(err)
		}
	}
	return a.Table()
}

func TestPairingAgreesWithTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := []*profile.Profile{profiletest.Drawn(t, "old"), profiletest.Drawn(t, "new")}
		g := profile.Granularity(rapid.IntRange(0, 3).Draw(t, "granularity"))
		for measure, value := range map[pairing.Measure]func(report.Row) int64{
			pairing.Flat: func(r report.Row) int64 { return r.Flat },
			pairing.Cum:  func(r report.Row) int64 { return r.Cum },
		} {
			got := pair(t, pairing.Options{Granularity: g, Measure: measure}, 1, ps...)
			for i, p := range ps {
				want := map[string]int64{}
				top, err := report.Top(p, report.TopOptions{SampleIndex: 1, Granularity: g})
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
		ps := []*profile.Profile{profiletest.Drawn(t, "old"), profiletest.Drawn(t, "new"), profiletest.Drawn(t, "newer")}
		for _, measure := range []pairing.Measure{pairing.Own, pairing.Flat} {
			owners := pair(t, pairing.Options{Measure: measure}, 1, ps...)
			paths := pair(t, pairing.Options{Measure: measure, Paths: true}, 1, ps...)
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
		got := pair(t, pairing.Options{}, 0, p)
		if len(got.Rows) != 1 || got.Rows[0].Name != c.want {
			t.Errorf("%s: charged to %v, want %s", c.stack, got.Rows, c.want)
		}
	}
}

func TestScatterOfSampledBytes(t *testing.T) {
	const rate = 512 << 10
	types := []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	b := profile.NewBuilder(types...)
	// Of objects of a size that is sampled half the time, 40 were sampled, so 80 are reported.
	size := int64(math.Round(math.Ln2 * rate))
	b.Add([]profile.FrameSpec{{Function: "main.a"}}, 80, 80*size)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := sampling.Of(p, 1); got != sampling.Unknown {
		t.Errorf("without a rate: %d", got)
	}
	p.Period, p.PeriodType = rate, profile.ValueType{Type: "space", Unit: "bytes"}
	for index, unit := range []float64{1, float64(size)} {
		got := pair(t, pairing.Options{}, index, p)
		if want := 80 * unit * unit; got.Scatter != sampling.Bytes || math.Abs(got.Rows[0].Costs[0].Variance-want) > 1e-4*want {
			t.Errorf("column %d: scatter %d, variance %g, want %g", index, got.Scatter, got.Rows[0].Costs[0].Variance, want)
		}
	}
}

func TestScatterByTypes(t *testing.T) {
	for _, c := range []struct {
		types string
		index int
		want  sampling.Kind
		// variance of a row of 4 in the first column and 40 in the second
		variance float64
	}{
		{"samples/count cpu/nanoseconds", 0, sampling.Events, 4},
		{"samples/count cpu/nanoseconds", 1, sampling.Events, 400},
		{"contentions/count delay/nanoseconds", 0, sampling.Counted, 4},
		{"contentions/count delay/nanoseconds", 1, sampling.Delays, 800},
		{"goroutine/count x/y", 0, sampling.Counted, 4},
		{"x/y wall/nanoseconds", 1, sampling.Unknown, 0},
		{"x/y delay/nanoseconds", 1, sampling.Unknown, 0},
		{"x/y inuse_space/bytes", 1, sampling.Unknown, 0},
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
		got := pair(t, pairing.Options{}, c.index, p)
		if got.Scatter != c.want || got.Rows[0].Costs[0].Variance != c.variance {
			t.Errorf("%s[%d]: scatter %d, variance %g", c.types, c.index, got.Scatter, got.Rows[0].Costs[0].Variance)
		}
	}
}

func TestPairingRefuses(t *testing.T) {
	if _, err := pairing.New(pairing.Options{Paths: true, Measure: pairing.Cum}); err == nil {
		t.Error("cumulative paths are paired")
	}
	a, _ := pairing.New(pairing.Options{})
	p := profiletest.Small(t)
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
	p, q := profiletest.Decoded(b, profiletest.Walks(b, 1)), profiletest.Decoded(b, profiletest.Walks(b, 2))
	for _, c := range []struct {
		name string
		o    pairing.Options
	}{{"own", pairing.Options{}}, {"cum", pairing.Options{Measure: pairing.Cum}}, {"paths", pairing.Options{Paths: true}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pair(b, c.o, 1, p, q)
			}
		})
	}
}
