package profile_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
)

// small is a CPU profile of 100 ns: main → work → (inlined) copy, with recursion.
func small(t testing.TB) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	main := profile.FrameSpec{Function: "main.main", File: "main.go", Line: 10, StartLine: 8}
	work := profile.FrameSpec{Function: "main.work", File: "main.go", Line: 20, StartLine: 18}
	deeper := profile.FrameSpec{Function: "main.work", File: "main.go", Line: 21, StartLine: 18}
	copied := profile.FrameSpec{Function: "lib.copy", File: "lib.go", Line: 5, Inlined: true}
	b.AddLabeled([]profile.FrameSpec{work, main}, []profile.Label{{Key: "tenant", Str: "a"}, {Key: "bytes", Num: 64, Unit: "bytes"}}, 6, 60)
	b.Add([]profile.FrameSpec{copied, deeper, work, main}, 2, 20)
	b.AddLabeled([]profile.FrameSpec{{Function: "lib.copy", File: "lib.go", Line: 6}, {Function: "runtime.main", File: "proc.go", Line: 1}}, []profile.Label{{Key: "tenant", Str: "b"}}, 2, 20)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRowAccess(t *testing.T) {
	p := small(t)
	if p.NumSamples() != 3 {
		t.Fatalf("%d samples", p.NumSamples())
	}
	if diff := cmp.Diff([]int64{60, 20, 20}, p.Values(1)); diff != "" {
		t.Errorf("values: %s", diff)
	}
	var names []string
	for _, l := range p.Stack(1, make([]int32, 0, 1)) {
		for _, ln := range p.Locations[l].Lines {
			names = append(names, p.Functions[ln.Func].Name)
		}
	}
	if got := strings.Join(names, " "); got != "lib.copy main.work main.work main.main" {
		t.Errorf("stack: %s", got)
	}
	if diff := cmp.Diff([]profile.Label{{Key: "tenant", Str: "a"}, {Key: "bytes", Num: 64, Unit: "bytes"}}, p.Labels(0)); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	if got := p.Labels(1); got != nil {
		t.Errorf("labels of a sample without any: %v", got)
	}
	if p.LabelSet(1) != 0 || p.LabelSet(0) == p.LabelSet(2) || p.NumLabelSets() != 3 {
		t.Errorf("label sets %d %d %d of %d", p.LabelSet(0), p.LabelSet(1), p.LabelSet(2), p.NumLabelSets())
	}
}

func TestListOfSmall(t *testing.T) {
	got, err := small(t).List(regexp.MustCompile("work|copy"), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []profile.FuncLines{
		{Name: "lib.copy", File: "lib.go", Flat: 40, Cum: 40, Lines: []profile.LineCost{{5, 20, 20}, {6, 20, 20}}},
		// The recursive sample stands on both lines and counts once in the sum.
		{Name: "main.work", File: "main.go", StartLine: 18, Flat: 60, Cum: 80, Lines: []profile.LineCost{{20, 60, 80}, {21, 0, 20}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestStacksIgnoreLabels(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	at := func(name string, line int64) profile.FrameSpec {
		return profile.FrameSpec{Function: name, File: "x.go", Line: line}
	}
	for i, tenant := range []string{"a", "b"} {
		// Two lines of one function are one stack of functions and two of lines.
		b.AddLabeled([]profile.FrameSpec{at("leaf", int64(i)), at("root", 1)}, []profile.Label{{Key: "tenant", Str: tenant}}, 10)
	}
	b.Add([]profile.FrameSpec{at("root", 1)}, 15)
	b.Add([]profile.FrameSpec{at("gone", 1)}, 4)
	b.Add([]profile.FrameSpec{at("gone", 2)}, -4)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	for g, want := range map[profile.Granularity]string{
		profile.ByFunction: "leaf<root=20 root=15 of 43",
		profile.ByLine:     "root=15 leaf<root=10 leaf<root=10 gone=4 gone=-4 of 43",
	} {
		s, err := p.Stacks(profile.TopOptions{Granularity: g})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range s.Rows {
			var names []string
			for _, f := range r.Frames {
				names = append(names, s.Frames[f].Name)
			}
			got = append(got, fmt.Sprintf("%s=%d", strings.Join(names, "<"), r.Value))
		}
		if text := fmt.Sprintf("%s of %d", strings.Join(got, " "), s.Total); text != want {
			t.Errorf("stacks: %s, want %s", text, want)
		}
	}
}

func TestIndexOutOfRangeIsAnError(t *testing.T) {
	p := small(t)
	o := profile.TopOptions{SampleIndex: 2}
	_, top := p.Top(o)
	_, diff := profile.TopDiff(p, p, o)
	_, list := p.List(regexp.MustCompile("."), -1)
	_, stacks := p.Stacks(o)
	for what, err := range map[string]error{"Top": top, "TopDiff": diff, "List": list, "Stacks": stacks} {
		if err == nil || !strings.Contains(err.Error(), "is outside 0 to 1") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestReadersMayShareAProfile is for the race detector.
func TestReadersMayShareAProfile(t *testing.T) {
	p := small(t)
	p.DropFrames = "lib.*"
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for row := range p.NumSamples() {
				p.Labels(row)
				p.Stack(row, nil)
			}
			q, err := p.DropUninteresting()
			if err != nil {
				t.Error(err)
				return
			}
			q = q.Filter(profile.Filter{Hide: regexp.MustCompile("work")})
			if _, err := q.Top(profile.TopOptions{SampleIndex: 1}); err != nil {
				t.Error(err)
			}
			if _, err := profile.Subtract(p, q); err != nil {
				t.Error(err)
			}
			if err := q.Encode(io.Discard); err != nil {
				t.Error(err)
			}
			if err := readAsReportsDo(p); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
}

// readAsReportsDo makes every report of a profile once.
func readAsReportsDo(p *profile.Profile) error {
	o := profile.DefaultViewOptions()
	o.NoInlines, o.TagRoot, o.TrimPath = true, []string{"tenant"}, "/src"
	v, err := p.View(o)
	if err != nil {
		return err
	}
	rows, traces := v.Traces()
	for range traces {
		_ = rows
	}
	v.Tags()
	v.BlindSpots(1, profile.Surroundings{})
	pairer, err := profile.NewPairer(profile.PairOptions{Paths: true})
	if err == nil {
		err = pairer.Add(p, 1)
	}
	_, graphErr := v.Graph(profile.GraphOptions{})
	_, listErr := v.List(regexp.MustCompile("."))
	_, _, flameErr := p.FlamePair(profile.FlameOptions{SampleIndex: 1})
	_, workErr := p.RuntimeWork(1, func(profile.Function) bool { return true })
	_, _, _, shareErr := profile.Share(p, v.Profile)
	_, baseErr := p.Against(v.Profile, profile.BaseOptions{Mark: true})
	_, mergeErr := profile.Merge(p, v.Profile)
	return errors.Join(err, graphErr, listErr, flameErr, workErr, shareErr, baseErr, mergeErr)
}

func TestSampleIndex(t *testing.T) {
	types := func(def string, names ...string) *profile.Profile {
		p := &profile.Profile{DefaultSampleType: def}
		for _, n := range names {
			p.SampleTypes = append(p.SampleTypes, profile.ValueType{Type: n})
		}
		return p
	}
	heap := types("inuse_space", "alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
	for _, c := range []struct {
		p    *profile.Profile
		name string
		want int
		err  string
	}{
		{heap, "", 3, ""},
		{heap, "alloc_space", 1, ""},
		{heap, "2", 2, ""},
		{heap, "4", 0, "sample index 4 is outside 0 to 3"},
		{heap, "cpu", 0, `sample index "cpu" is none of: alloc_objects, alloc_space, inuse_objects, inuse_space`},
		{types("gone", "samples", "cpu"), "", 1, ""},
		{types("", "objects", "space"), "inuse_space", 1, ""},
		{types("", "contentions", "delay"), "total_delay", 1, ""},
		{types(""), "", 0, "the profile has no sample types"},
	} {
		got, err := c.p.SampleIndex(c.name)
		if err != nil && err.Error() != c.err || err == nil && (c.err != "" || got != c.want) {
			t.Errorf("SampleIndex(%q) = %d, %v; want %d, %s", c.name, got, err, c.want, c.err)
		}
	}
}

func TestBuilderRefusesWhatMakesNoSense(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add(nil, 1, 2)
	if _, err := b.Profile(); err == nil || !strings.Contains(err.Error(), "sample 0 has 2 values") {
		t.Errorf("wrong number of values: %v", err)
	}
	b = profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "f", Inlined: true}}, 1)
	if _, err := b.Profile(); err == nil || !strings.Contains(err.Error(), "cannot be inlined") {
		t.Errorf("inlined root: %v", err)
	}
}

func TestMergeRefusesOtherTypes(t *testing.T) {
	other, err := profile.NewBuilder(profile.ValueType{Type: "space", Unit: "bytes"}).Profile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Merge(small(t), other); err == nil || !strings.Contains(err.Error(), "merge profile 2 of 2: sample types differ") {
		t.Errorf("Merge: %v", err)
	}
	if _, err := profile.Subtract(small(t), other); err == nil || !strings.Contains(err.Error(), "subtract: sample types differ") {
		t.Errorf("Subtract: %v", err)
	}
	if _, err := profile.Merge(); err == nil {
		t.Error("Merge of nothing gave a profile")
	}
}

func TestSubtractItselfIsEmpty(t *testing.T) {
	p := small(t)
	d, err := profile.Subtract(p, p)
	if err != nil {
		t.Fatal(err)
	}
	if d.NumSamples() != 0 || len(d.Locations) != 0 || len(d.Functions) != 0 {
		t.Errorf("%d samples, %d locations, %d functions are left", d.NumSamples(), len(d.Locations), len(d.Functions))
	}
}
