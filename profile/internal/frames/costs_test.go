package frames_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
)

// recursive returns a profile whose stacks contain most functions several times, also in one
// location with inlined calls.
func recursive(t *testing.T, r *rand.Rand) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for range 60 {
		var stack []profile.FrameSpec
		for depth := range r.IntN(9) {
			f := r.IntN(12)
			stack = append(stack, profile.FrameSpec{
				Function: fmt.Sprintf("main.f%d", f), File: fmt.Sprintf("file%d.go", f/4), Line: int64(1 + r.IntN(3)),
				Inlined: depth > 0 && r.IntN(2) == 0,
			})
		}
		slices.Reverse(stack)
		b.Add(stack, int64(r.IntN(9)-2))
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plainSums sums the rows that contain focus, without the frames that match hide.
func plainSums(p *profile.Profile, f *frames.Table, focus, hide *regexp.Regexp) []int64 {
	cums := make([]int64, len(f.Keys))
	for row, v := range p.Values(0) {
		kept, keys := false, map[int32]bool{}
		for _, l := range p.Stack(row) {
			for i, ln := range p.Locations[l].Lines {
				name := p.Functions[ln.Func].Name
				kept = kept || focus.MatchString(name)
				if !hide.MatchString(name) {
					keys[f.List[f.Start[l]+int32(i)]] = true
				}
			}
		}
		for k := range keys {
			if kept {
				cums[k] += v
			}
		}
	}
	return cums
}

func TestCostsOfRecursion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		p := recursive(t, r)
		known := frames.By(p, profile.ByFunction, false).NewCosts(p, p.Values(0))
		for _, g := range []profile.Granularity{profile.ByFunction, profile.ByFile, profile.ByLine} {
			for _, c := range []*frames.Costs{
				frames.By(p, g, false).NewCosts(p, p.Values(0)),
				known.At(frames.By(p, g, false), g != profile.ByFile, func() bool { return true }),
			} {
				for _, hide := range []string{"^$", "f[13]$"} {
					for _, focus := range []string{"f1", "f2$", "f"} {
						checkOf(t, p, c, regexp.MustCompile(focus), regexp.MustCompile(hide))
					}
				}
			}
		}
	}
}

// checkOf compares the sums of what filters keep with plainSums.
func checkOf(t *testing.T, p *profile.Profile, c *frames.Costs, focus, hide *regexp.Regexp) {
	t.Helper()
	sel, _ := profile.Filter{Focus: focus, Hide: hide}.Select(p)
	shown := c.Table
	if hidden := sel.Hidden(); hidden != nil {
		shown = shown.Without(hidden)
	}
	want := plainSums(p, c.Table, focus, hide)
	for k, s := range c.Of(shown, sel) {
		if s.Cum != want[k] {
			t.Fatalf("focus %v, hide %v: %v costs %d, want %d", focus, hide, c.Table.Keys[k], s.Cum, want[k])
		}
	}
	want = plainSums(p, c.Table, regexp.MustCompile(""), regexp.MustCompile("^$"))
	for k, s := range c.Sums() {
		if s.Cum != want[k] {
			t.Fatalf("%v costs %d, want %d", c.Table.Keys[k], s.Cum, want[k])
		}
	}
}
