package profile_test

import (
	"fmt"
	"testing"

	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
)

func TestRoundTripLosesNothing(t *testing.T) {
	for _, sequential := range []bool{true, false} {
		t.Run(fmt.Sprintf("sequential=%v", sequential), rapid.MakeCheck(func(rt *rapid.T) {
			g := profiletest.Any(sequential).Draw(rt, "profile")
			profiletest.Same(t, "round trip", profiletest.Reparse(t, g), profiletest.ToGoogle(t, profiletest.FromGoogle(t, g)))
		}))
	}
}

func TestMergeEqualsGoogle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		series := profiletest.Series(rt, rapid.IntRange(1, 4).Draw(rt, "profiles"))
		var ours []*profile.Profile
		for i := range series {
			series[i] = profiletest.Reparse(t, series[i])
			ours = append(ours, profiletest.FromGoogle(t, series[i]))
		}
		want, err := google.Merge(series)
		if err != nil {
			t.Fatal(err)
		}
		got, err := profile.Merge(ours...)
		if err != nil {
			t.Fatal(err)
		}
		profiletest.Same(t, "merge", profiletest.Reparse(t, want), profiletest.ToGoogle(t, got))
	})
}

func TestSubtractEqualsGoogle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		series := profiletest.Series(rt, 2)
		p, base := profiletest.Reparse(t, series[0]), profiletest.Reparse(t, series[1])
		got, err := profile.Subtract(profiletest.FromGoogle(t, p), profiletest.FromGoogle(t, base), profile.Subtraction{})
		if err != nil {
			t.Fatal(err)
		}
		base.Scale(-1)
		want, err := google.Merge([]*google.Profile{p, base})
		if err != nil {
			t.Fatal(err)
		}
		// The header of a difference is the minuend's.
		want.TimeNanos, want.DurationNanos, want.Period = p.TimeNanos, p.DurationNanos, p.Period
		profiletest.Same(t, "difference", profiletest.Reparse(t, want), profiletest.ToGoogle(t, got))
	})
}
