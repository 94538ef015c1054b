package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
)

func TestRowAccess(t *testing.T) {
	p := profiletest.Small(t)
	if p.NumSamples() != 3 {
		t.Fatalf("%d samples", p.NumSamples())
	}
	if diff := cmp.Diff([]int64{60, 20, 20}, p.Values(1)); diff != "" {
		t.Errorf("values: %s", diff)
	}
	var names []string
	for _, l := range p.Stack(1) {
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

func TestBuilderRefusesInvalidSpecs(t *testing.T) {
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
	if _, err := profile.Merge(profiletest.Small(t), other); err == nil || !strings.Contains(err.Error(), "merge profile 2 of 2: sample types differ") {
		t.Errorf("Merge: %v", err)
	}
	if _, err := profile.Subtract(profiletest.Small(t), other, profile.Subtraction{}); err == nil || !strings.Contains(err.Error(), "subtract: sample types differ") {
		t.Errorf("Subtract: %v", err)
	}
	if _, err := profile.Merge(); err == nil {
		t.Error("Merge of nothing gave a profile")
	}
}

func TestSubtractItselfIsEmpty(t *testing.T) {
	p := profiletest.Small(t)
	d, err := profile.Subtract(p, p, profile.Subtraction{})
	if err != nil {
		t.Fatal(err)
	}
	if d.NumSamples() != 0 || len(d.Locations) != 0 || len(d.Functions) != 0 {
		t.Errorf("%d samples, %d locations, %d functions are left", d.NumSamples(), len(d.Locations), len(d.Functions))
	}
}
