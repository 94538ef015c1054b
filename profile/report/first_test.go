package report

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.IntRange(0, 40), 0, 60).Draw(t, "all")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		want := slices.Sorted(slices.Values(all))
		if n > 0 {
			want = want[:min(n, len(want))]
		}
		if got := first(slices.Clone(all), n, cmp.Compare); !slices.Equal(got, want) {
			t.Fatalf("first %d of %v: %v, want %v", n, all, got, want)
		}
	})
}

// TestWidths: widths that are at least as large as what add returns are among the most largest, of
// equal ones the first.
func TestWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 8).Draw(t, "most")
		var h widths
		var seen []int64
		for _, width := range rapid.SliceOfN(rapid.Int64Range(1, 30), 1, 40).Draw(t, "widths") {
			seen = append(seen, width)
			want := int64(0)
			if len(seen) >= most {
				sorted := slices.Sorted(slices.Values(seen))
				want = sorted[len(sorted)-most] + 1
			}
			if got := h.add(width, most); got != want {
				t.Fatalf("after %v, the %d widest need %d, want %d", seen, most, got, want)
			}
		}
	})
}
