package report_test

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
	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/runtimework"
)

func TestListOfSmall(t *testing.T) {
	got, err := report.List(profiletest.Small(t), regexp.MustCompile("work|copy"), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []report.FuncLines{
		{Name: "lib.copy", File: "lib.go", Flat: 40, Cum: 40, Lines: []report.LineCost{{5, 20, 20}, {6, 20, 20}}},
		// The recursive sample is on both lines and counts once in the sum.
		{Name: "main.work", File: "main.go", StartLine: 18, Flat: 60, Cum: 80, Lines: []report.LineCost{{20, 60, 80}, {21, 0, 20}}},
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
		// Two lines of one function are one stack of functions, but two of lines.
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
		s, err := report.Stacks(p, report.TopOptions{Granularity: g})
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
	p := profiletest.Small(t)
	o := report.TopOptions{SampleIndex: 2}
	_, top := report.Top(p, o)
	_, list := report.List(p, regexp.MustCompile("."), -1)
	_, stacks := report.Stacks(p, o)
	for what, err := range map[string]error{"Top": top, "List": list, "Stacks": stacks} {
		if err == nil || !strings.Contains(err.Error(), "is outside 0 to 1") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestReadersMayShareAProfile is for the race detector.
func TestReadersMayShareAProfile(t *testing.T) {
	p := profiletest.Small(t)
	p.DropFrames = "lib.*"
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for row := range p.NumSamples() {
				p.Labels(row)
				p.Stack(row)
			}
			q, err := p.DropUninteresting()
			if err != nil {
				t.Error(err)
				return
			}
			q = q.Filter(profile.Filter{Hide: regexp.MustCompile("work")})
			if _, err := report.Top(q, report.TopOptions{SampleIndex: 1}); err != nil {
				t.Error(err)
			}
			if _, err := profile.Subtract(p, q, profile.Subtraction{}); err != nil {
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
	o := report.DefaultOptions()
	o.NoInlines, o.TagRoot, o.TrimPath = true, []string{"tenant"}, "/src"
	v, err := report.NewView(p, o)
	if err != nil {
		return err
	}
	rows, traces := v.Traces()
	for range traces {
		_ = rows
	}
	v.Tags()
	blindspots.Of(v, 1, blindspots.Surroundings{})
	pairer, err := pairing.New(pairing.Options{Paths: true})
	if err == nil {
		err = pairer.Add(p, 1)
	}
	_, graphErr := v.Graph(report.GraphOptions{})
	_, listErr := v.List(regexp.MustCompile("."))
	_, _, flameErr := report.FlamePair(p, report.FlameOptions{SampleIndex: 1})
	_, workErr := runtimework.Of(p, 1, func(profile.Function) bool { return true })
	_, _, _, shareErr := profile.Share(p, v.Profile)
	_, baseErr := profile.Subtract(p, v.Profile, profile.Subtraction{Mark: true})
	_, mergeErr := profile.Merge(p, v.Profile)
	return errors.Join(err, graphErr, listErr, flameErr, workErr, shareErr, baseErr, mergeErr)
}
