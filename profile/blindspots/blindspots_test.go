package blindspots_test

import (
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

var (
	cpuTypes  = []profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}
	heapTypes = []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	waitTypes = []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
)

// cpuTaken is a CPU profile at 100 Hz of two seconds.
func cpuTaken(t *testing.T, each int64, depths ...int) *profile.Profile {
	p := profiletest.Taken(t, cpuTypes, each, depths...)
	p.PeriodType, p.Period, p.DurationNanos = cpuTypes[0], 10e6, 2e9
	return p
}

func blind(t *testing.T, p *profile.Profile, o report.Options, least int64, s blindspots.Surroundings) blindspots.Spots {
	t.Helper()
	v, err := report.NewView(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return blindspots.Of(v, least, s)
}

func TestStacksThatTheRuntimeCut(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    *profile.Profile
		want *blindspots.CutStacks
	}{
		{"cpu", cpuTaken(t, 1e9, 64, 3), &blindspots.CutStacks{Depth: 64, Rows: 1, Share: 0.5}},
		{"cpu, one less", cpuTaken(t, 1e9, 63, 3), nil},
		{"cpu, of another profiler", cpuTaken(t, 1e9, 64, 65), nil},
		{"delay", profiletest.Taken(t, waitTypes, 7, 128, 128, 127, 1), &blindspots.CutStacks{Depth: 128, Rows: 2, Share: 0.5}},
		{"delay at the depth of CPU profiles", profiletest.Taken(t, waitTypes, 7, 64), nil},
		{"heap, less the allocator's frames", profiletest.Taken(t, heapTypes, 7, 125, 1), &blindspots.CutStacks{Depth: 128, Rows: 1, Share: 0.5}},
		{"heap", profiletest.Taken(t, heapTypes, 7, 123), nil},
		{"of unknown origin", profiletest.Taken(t, []profile.ValueType{{Type: "events", Unit: "count"}}, 7, 64, 128), nil},
	} {
		got := blind(t, tc.p, report.DefaultOptions(), 0, blindspots.Surroundings{}).Cut
		if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
	// Filters do not complete stacks.
	o := report.DefaultOptions()
	o.Hide = regexp.MustCompile("_63$")
	if blind(t, cpuTaken(t, 1e9, 64), o, 0, blindspots.Surroundings{}).Cut == nil {
		t.Error("a stack with a hidden frame is not cut any more")
	}
}

func TestCPUTimeAgainstTheClock(t *testing.T) {
	around := func(cores int, counted float64) blindspots.Surroundings {
		return blindspots.Surroundings{Cores: cores, CPUSeconds: counted}
	}
	for _, tc := range []struct {
		name    string
		seconds float64
		around  blindspots.Surroundings
		more    bool
		counted float64
	}{
		{"nothing else known", 8, around(0, 0), false, 0},
		{"within the cores", 3.9, around(2, 0), false, 0},
		{"more than the cores by chance", 4.1, around(2, 0), false, 0},
		{"more than the cores", 6, around(2, 0), true, 0},
		{"as counted", 3, around(2, 3.1), false, 0},
		{"few samples, less than counted by chance", 0.1, around(2, 0.13), false, 0},
		{"less than counted", 2, around(4, 3), false, 3},
	} {
		u := blind(t, cpuTaken(t, int64(tc.seconds*1e9), 2), report.DefaultOptions(), 0, tc.around).CPU
		if u == nil || u.More != tc.more || u.Counted != tc.counted || math.Abs(u.Busy()-tc.seconds/2) > 1e-9 {
			t.Errorf("%s: %+v", tc.name, u)
		}
	}
	p := cpuTaken(t, 1e9, 2)
	p.DurationNanos = 0
	if u := blind(t, p, report.DefaultOptions(), 0, blindspots.Surroundings{}).CPU; u != nil {
		t.Errorf("without a duration: %+v", u)
	}
	d, err := profile.Subtract(cpuTaken(t, 1e9, 2), cpuTaken(t, 2e9, 3), profile.Subtraction{})
	if err != nil {
		t.Fatal(err)
	}
	if u := blind(t, d, report.DefaultOptions(), 0, blindspots.Surroundings{}).CPU; u != nil {
		t.Errorf("of a difference: %+v", u)
	}
}

func TestSamplingOfSmallValues(t *testing.T) {
	p := cpuTaken(t, 5e9, 2)
	s := blind(t, p, report.DefaultOptions(), 30e6, blindspots.Surroundings{}).Sampling
	// Garwood's interval of 3 is 0.62 to 8.77.
	if s == nil || s.Samples != 3 || s.PeriodSeconds != 0.01 || math.Abs(s.Bounds.Low-6.187e6) > 1e4 || math.Abs(s.Bounds.High-87.67e6) > 1e4 {
		t.Errorf("30 ms: %+v", s)
	}
	for name, least := range map[string]int64{"400 samples": 4e9, "nothing": 0, "less than a sample": 9e6} {
		if s := blind(t, p, report.DefaultOptions(), least, blindspots.Surroundings{}).Sampling; s != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := blind(t, profiletest.Taken(t, heapTypes, 7, 2), report.DefaultOptions(), 7, blindspots.Surroundings{}).Sampling; s != nil {
		t.Errorf("of a heap profile: %+v", s)
	}
}

func TestLabelsThatCannotBe(t *testing.T) {
	labels := func(p *profile.Profile, ls ...profile.Label) *profile.Profile {
		return p.Split(func(row int) []profile.Part {
			part := profile.Part{Labels: ls}
			for i := range p.SampleTypes {
				part.Values = append(part.Values, p.Values(i)[row])
			}
			return []profile.Part{part}
		})
	}
	heap := labels(profiletest.Taken(t, heapTypes, 7, 2), profile.Label{Key: "bytes", Num: 48})
	focus := func(text string) func(*report.Options) {
		return func(o *report.Options) {
			f, err := profile.ParseTagFilter(text)
			if err != nil {
				t.Fatal(err)
			}
			o.TagFocus = f
		}
	}
	root := func(key string) func(*report.Options) {
		return func(o *report.Options) { o.TagRoot = []string{key} }
	}
	for _, tc := range []struct {
		name string
		p    *profile.Profile
		set  func(*report.Options)
		want []string
	}{
		{"heap by label", heap, focus("route=x"), []string{"tagfocus"}},
		{"heap by size", heap, focus("bytes=48b"), nil},
		{"heap with the label as root", heap, root("route"), []string{"tagroot"}},
		{"heap with the size as root", heap, root("bytes"), nil},
		{"heap that somebody labelled", labels(heap, profile.Label{Key: "tenant", Str: "x"}), focus("route=x"), nil},
		{"mutex", profiletest.Taken(t, waitTypes, 7, 2), root("route"), []string{"tagroot"}},
		{"cpu", cpuTaken(t, 1e9, 2), focus("route=x"), nil},
	} {
		o := report.DefaultOptions()
		tc.set(&o)
		if got := blind(t, tc.p, o, 0, blindspots.Surroundings{}).NoLabels; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
