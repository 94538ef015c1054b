package profile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
)

var (
	cpuTypes  = []profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}
	heapTypes = []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
)

// unlike names the sample types of profiles such that some are shared, in any order.
func unlike(rt *rapid.T, series []*google.Profile) {
	for _, g := range series {
		names := rapid.Permutation([]string{"a", "b", "c", "d", "e"}).Draw(rt, "names")[:len(g.SampleType)]
		for i, st := range g.SampleType {
			st.Type, st.Unit = names[i], "count"
		}
	}
}

// sorted describes a profile's header and samples, without their order and without the numbers of
// locations, which differ: pprof knows all types before it merges, hone reads one profile after the
// other.
func sorted(g *google.Profile) []string {
	var rows []string
	for _, s := range g.Sample {
		row := fmt.Sprintf("%d %q %v %q:", s.Value, s.Label, s.NumLabel, s.NumUnit)
		for _, l := range s.Location {
			row += fmt.Sprintf(" %#x", l.Address)
			for _, line := range l.Line {
				row += fmt.Sprintf("/%s:%d:%d", line.Function.Name, line.Line, line.Column)
			}
		}
		rows = append(rows, row)
	}
	slices.Sort(rows)
	head := fmt.Sprintf("default %q period %q %d duration %d types", g.DefaultSampleType, g.PeriodType.Type, g.Period, g.DurationNanos)
	for _, t := range g.SampleType {
		head += " " + t.Type
	}
	return append([]string{head}, rows...)
}

func TestMergeOfUnlikeTypesEqualsGoogle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		series := profiletest.Series(rt, rapid.IntRange(1, 4).Draw(rt, "profiles"))
		unlike(rt, series)
		m := profile.NewMerger()
		var failed error
		var dropped []string
		for i := range series {
			series[i] = profiletest.Reparse(t, series[i])
			more, err := m.AddShared(profiletest.FromGoogle(t, series[i]))
			if err != nil {
				failed = err
				break
			}
			for _, t := range more {
				dropped = append(dropped, t.Type)
			}
		}
		all := map[string]bool{}
		for _, g := range series {
			for _, t := range g.SampleType {
				all[t.Type] = true
			}
		}
		err := google.CompatibilizeSampleTypes(series)
		if (err != nil) != (failed != nil) {
			rt.Fatalf("%v, google/pprof: %v", failed, err)
		}
		if err != nil {
			return
		}
		want, err := google.Merge(series)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sorted(profiletest.Reparse(t, want)), sorted(profiletest.ToGoogle(t, got))); diff != "" {
			rt.Fatalf("merge differs from google/pprof (-google +hone):\n%s", diff)
		}
		for _, t := range got.SampleTypes {
			delete(all, t.Type)
		}
		for name := range all {
			if !slices.Contains(dropped, name) {
				rt.Fatalf("%s is gone, and only %v are reported", name, dropped)
			}
		}
	})
}

func TestShareOfProfilesWithTheSameTypes(t *testing.T) {
	a, b := profiletest.Small(t), profiletest.Small(t)
	x, y, dropped, err := profile.Share(a, b)
	if x != a || y != b || dropped != nil || err != nil {
		t.Errorf("%p %p of %p %p, %v, %v", x, y, a, b, dropped, err)
	}
}

func TestShareNeedsSomethingShared(t *testing.T) {
	a := profiletest.Taken(t, cpuTypes, 1, 2)
	b := profiletest.Taken(t, heapTypes, 1, 2)
	if _, _, _, err := profile.Share(a, b); err == nil || !strings.Contains(err.Error(), "share no sample type") {
		t.Error(err)
	}
	b.PeriodType = cpuTypes[0]
	if _, _, _, err := profile.Share(a, b); err == nil || !strings.Contains(err.Error(), "period types differ") {
		t.Error(err)
	}
}

func ExampleMerger_AddShared() {
	old := profile.NewBuilder(profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	old.Add([]profile.FrameSpec{{Function: "main.load"}}, 100)
	newer := profile.NewBuilder(profile.ValueType{Type: "alloc_space", Unit: "bytes"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	newer.Add([]profile.FrameSpec{{Function: "main.load"}}, 900, 20)
	m := profile.NewMerger()
	for _, b := range []*profile.Builder{old, newer} {
		p, err := b.Profile()
		if err != nil {
			fmt.Println(err)
			return
		}
		dropped, err := m.AddShared(p)
		fmt.Println(dropped, err)
	}
	p, err := m.Profile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.SampleTypes, p.Total(0))
	// Output:
	// [] <nil>
	// [{alloc_space bytes}] <nil>
	// [{inuse_space bytes}] 120
}
