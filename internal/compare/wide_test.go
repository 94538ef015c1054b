package compare

import (
	"encoding/json"
	"testing"
)

// TestWideRatio: two recordings per side that differ by orders of magnitude have no interval, and
// no value that JSON cannot represent.
func TestWideRatio(t *testing.T) {
	like := figure{name: "clean phase", metric: LockWait, unit: "s", kind: lockWait}
	of := func(values ...float64) (figures []figure) {
		for _, v := range values {
			f := like
			f.value = v
			figures = append(figures, f)
		}
		return figures
	}
	for _, wide := range []bool{false, true} {
		old := of(1e-3, 1.1e-3)
		if wide {
			old = of(1e-200, 1e200)
		}
		row := pair{figures: [2][]figure{old, of(1.05e-3, 1e-3)}, shared: [2][]sharing{make([]sharing, 2), make([]sharing, 2)}}.row(like, false)
		if _, err := json.Marshal(row); err != nil {
			t.Errorf("wide %t: %v", wide, err)
		}
		if got := row.Low == nil && row.P == nil; got != wide {
			t.Errorf("wide %t: no interval: %t (%+v)", wide, got, row)
		}
	}
}
