package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestFinite: however much recordings differ, the comparison can be written as JSON.
func TestFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for try := range 600 {
		spread := []float64{0.1, 2, 60}[try%3]
		var sides [2][]Source
		for side := range sides {
			for i := range 2 + rng.IntN(5) {
				m := program(1+rng.IntN(3), math.Exp(rng.NormFloat64()*20), 1+rng.Int64N(100))
				m.ID = fmt.Sprint(side, i)
				p := &m.Phases[0]
				any := func() *float64 { v := math.Exp(rng.NormFloat64() * spread); return &v }
				p.GCSeconds, p.BusySeconds, p.LockSeconds, p.PeakRSSBytes = any(), any(), any(), 1+int64(rng.Uint64()>>rng.IntN(63)>>1)
				if rng.IntN(4) == 0 {
					p.LockSeconds = new(float64) // nothing waited
				}
				p.CPUSeconds, p.Seconds, p.AllocBytes = *any(), *any(), 1+int64(rng.Uint64()>>rng.IntN(63)>>1)
				for j := range p.Windows {
					w := &p.Windows[j]
					w.CPUSeconds, w.Seconds, w.AllocBytes = *any(), *any(), 1+int64(rng.Uint64()>>rng.IntN(63)>>1)
				}
				sides[side] = append(sides[side], Source{Name: m.ID, Manifest: m})
			}
		}
		c := compared(t, sides[0], sides[1], Options{InTurns: true})
		if _, err := json.Marshal(c); err != nil {
			t.Fatalf("try %d: %v: %+v", try, err, c.Rows)
		}
	}
}
