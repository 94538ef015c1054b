package gc

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestMMUEqualsTheSlowWay compares the streaming search with one that tries every window that
// starts or ends at a step.
func TestMMUEqualsTheSlowWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type change struct {
			at int64
			u  float64
		}
		var changes []change
		now := int64(0)
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			now += int64(rapid.IntRange(1, 40_000_000).Draw(t, "gap"))
			changes = append(changes, change{now, float64(rapid.IntRange(0, 4).Draw(t, "u")) / 4})
		}
		end := now + int64(rapid.IntRange(1, 2_000_000_000).Draw(t, "rest"))

		m := newMMU()
		for _, c := range changes {
			m.set(c.at, c.u)
		}
		m.pass(end, true)

		area := func(to int64) float64 {
			a, u, at := 0.0, 1.0, int64(0)
			for _, c := range changes {
				if c.at > to {
					break
				}
				a += u * float64(c.at-at)
				u, at = c.u, c.at
			}
			return a + u*float64(to-at)
		}
		for i := range m.windows {
			w := m.windows[i].length
			want := math.Inf(1)
			try := func(begin int64) {
				if begin >= 0 && begin+w <= end {
					want = min(want, (area(begin+w)-area(begin))/float64(w))
				}
			}
			try(0)
			try(end - w)
			for _, c := range changes {
				try(c.at)
				try(c.at - w)
			}
			if got := m.windows[i].mean(); math.Abs(got-want) > 1e-6 && got != want {
				t.Fatalf("window %d ns: %v, want %v", w, got, want)
			}
		}
	})
}

// TestMMUForgets asserts that the steps of a long trace are not kept.
func TestMMUForgets(t *testing.T) {
	m := newMMU()
	for i := range int64(200_000) {
		m.set(i*1_000_000, float64(i%2))
	}
	if n := len(m.steps); n > 5000 {
		t.Errorf("%d steps are held after 200 s at 1,000 a second", n)
	}
}
