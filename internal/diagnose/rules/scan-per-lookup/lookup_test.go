package scanperlookup

import "testing"

// TestLookup: a lookup leaves less of a long scan than of a short one.
func TestLookup(t *testing.T) {
	for scanned, want := range map[float64]float64{8: 0.9, 50: 0.9, 200: 0.95, 1e6: 0.98} {
		if got := lookup(scanned); got.Expect != want || !got.Valid() {
			t.Errorf("of %v elements: %+v, want %v", scanned, *got, want)
		}
	}
}
