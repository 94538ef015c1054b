package report_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// inlining returns a profile in which most functions are inlined into some of their callers.
func inlining(t *testing.T, r *rand.Rand, least int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for range 150 {
		var stack []profile.FrameSpec
		caller := -1
		for range 1 + r.IntN(4) {
			f := r.IntN(5)
			inlined := caller >= 0 && (f%4 == 0 || f%4 == 1 && (f+caller)%3 > 0 || f%4 == 2 && r.IntN(2) == 0)
			stack = append(stack, profile.FrameSpec{
				Function: fmt.Sprintf("main.f%d", f), File: "main.go", Line: int64(1 + r.IntN(2)), Inlined: inlined,
			})
			caller = f
		}
		slices.Reverse(stack)
		b.Add(stack, least+int64(r.IntN(40)))
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTopMarksFromCache compares marks of inlined calls, for which a cache knows what calls cost at
// most, with those of whole stacks.
func TestTopMarksFromCache(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	marks := map[report.Inline]int{}
	for range 300 {
		p := inlining(t, r, []int64{1, -5}[r.IntN(2)])
		o := report.TopOptions{Limit: 1 + r.IntN(8), Inline: true, EdgeShare: r.Float64() / 4, Granularity: profile.Granularity(r.IntN(2))}
		switch r.IntN(4) {
		case 0:
			o.Filter.Focus = regexp.MustCompile(fmt.Sprintf("f%d", r.IntN(8)))
		case 1:
			o.Filter.Hide = regexp.MustCompile(fmt.Sprintf("f%d", r.IntN(8)))
		}
		want, err := report.Top(p, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Cache = report.NewCache(p)
		got, err := report.Top(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v: without a cache (-) and with one (+):\n%s", o, diff)
		}
		for _, row := range got.Rows {
			marks[row.Inline]++
		}
	}
	if len(marks) != 3 {
		t.Fatalf("the marks are %v, want some of each", marks)
	}
}
