package recording

import (
	"testing"
)

func TestCPUFactor(t *testing.T) {
	clean := Phase{Name: PhaseClean, CPUSeconds: 2, Requests: 1000}
	for _, c := range []struct {
		name   string
		phases []Phase
		bench  string
		p      Phase
		want   float64
	}{
		{"three times", []Phase{clean}, "", Phase{CPUSeconds: 3, Requests: 500}, 3},
		{"runs", []Phase{{Name: PhaseClean, CPUSeconds: 2, Runs: 2}}, "", Phase{CPUSeconds: 3, Runs: 1}, 3},
		{"no units", []Phase{clean}, "", Phase{CPUSeconds: 3}, 0},
		{"no clean phase", nil, "", Phase{CPUSeconds: 3, Requests: 500}, 0},
		{"benchmarks", []Phase{clean}, ".", Phase{CPUSeconds: 3, Requests: 500}, 0},
	} {
		m := Manifest{Phases: c.phases}
		m.Target.Bench = c.bench
		if got := m.CPUFactor(&c.p); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
