package report_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// TestFlameHidesOuterFrames: hidden frames are outside of those that remain, and within.
func TestFlameHidesOuterFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 11))
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for range 3000 {
		var stack []profile.FrameSpec
		for n := 1 + r.IntN(8); len(stack) < n; {
			stack = append(stack, profile.FrameSpec{Function: fmt.Sprintf("pkg.f%d", r.IntN(30)), Line: r.Int64N(2), Inlined: r.IntN(4) == 0})
		}
		for n := 3 + r.IntN(3); n > 0; n-- {
			stack = append(stack, profile.FrameSpec{Function: fmt.Sprintf("outer.f%d", n)})
		}
		b.Add(stack, r.Int64N(9))
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	cache := report.NewCache(p)
	for _, hide := range []string{"outer", "outer|f1", "outer|f2[0-9]$"} {
		f := profile.Filter{Hide: regexp.MustCompile(hide)}
		for _, o := range []report.FlameOptions{{MaxBoxes: 50}, {MaxBoxes: 500, MinShare: 0.001}} {
			want, err := report.Flame(p.Filter(f), o)
			if err != nil {
				t.Fatal(err)
			}
			want.Total = p.Total(0)
			o.Filter, o.Cache = f, cache
			got, err := report.Flame(p, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s, %+v (-filtered +flame):\n%s", hide, o, diff)
			}
		}
	}
}

// TestFlameShowFromInDeepStacks: the stacks that remain are longer than the numbers that are stored
// of most.
func TestFlameShowFromInDeepStacks(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for depth := range int64(6) {
		stack := slices.Repeat([]profile.FrameSpec{{Function: "main.f"}}, int(65_530+2*depth))
		stack = append(stack, profile.FrameSpec{Function: "main.from", Inlined: true}, profile.FrameSpec{Function: "main.caller"})
		b.Add(append(stack, slices.Repeat([]profile.FrameSpec{{Function: "main.main"}}, 20_000)...), 10+depth)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	f := profile.Filter{ShowFrom: regexp.MustCompile(`from`)}
	callees, callers, err := report.FlamePair(p, report.FlameOptions{MaxBoxes: 30, Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	wantCallees, wantCallers, err := report.FlamePair(p.Filter(f), report.FlameOptions{MaxBoxes: 30})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(callees, wantCallees) || !reflect.DeepEqual(callers, wantCallers) {
		t.Errorf("callees (-filtered +flame):\n%s\ncallers:\n%s", cmp.Diff(wantCallees, callees), cmp.Diff(wantCallers, callers))
	}
}
