package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

// TestTopProtoEqualsPprof compares the rows of both profiles, in order.
func TestTopProtoEqualsPprof(t *testing.T) {
	g := profiletest.Recorded(t)["heap"]
	if g == nil {
		t.Fatal("no heap profile was recorded")
	}
	rows := func(p *google.Profile) []string {
		var out []string
		for _, s := range p.Sample {
			ln := s.Location[0].Line[0]
			out = append(out, fmt.Sprint(ln.Function.Name, " ", ln.Function.Filename, ":", ln.Line, " ", s.Value))
		}
		return out
	}
	o := report.DefaultOptions()
	o.SampleIndex, o.Granularity = "alloc_space", profile.ByLine
	// pprof rounds to the unit that it would print; hone keeps the profile's.
	args := append(chosen(o), "-topproto", "-sample_index=alloc_space", "-unit=bytes")
	want, err := google.Parse(bytes.NewReader([]byte(pprofReport(t, g, args...))))
	if err != nil {
		t.Fatal(err)
	}
	v, err := report.NewView(profiletest.FromGoogle(t, g), o)
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.Top(v.Profile, v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	p, err := top.Profile(v.Profile)
	if err != nil {
		t.Fatal(err)
	}
	got := profiletest.ToGoogle(t, p)
	if diff := cmp.Diff(rows(want), rows(got)); diff != "" {
		t.Errorf("-pprof +hone:\n%s", diff)
	}
	if got.TimeNanos != g.TimeNanos || got.Period != g.Period {
		t.Error("time or period are lost")
	}
}

func TestDivided(t *testing.T) {
	p := built(t, "f main 7", "g main -9")
	o := report.DefaultOptions()
	for by, want := range map[float64][]int64{1: {7, -9}, 2: {3, -4}, 0.5: {14, -18}} {
		o.DivideBy = by
		v, err := report.NewView(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Divided().Values(0); !slices.Equal(got, want) {
			t.Errorf("divided by %g: %v, want %v", by, got, want)
		}
	}
	if got := p.Values(0); !slices.Equal(got, []int64{7, -9}) {
		t.Errorf("the profile itself changed to %v", got)
	}
}
