package render

import (
	"slices"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// TestLengths: the total includes the time of the builds between phases.
func TestLengths(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	m := recording.Manifest{Phases: []recording.Phase{
		{Name: recording.PhaseClean, Start: at, Seconds: 2},
		{Name: recording.PhaseCPU, Start: at.Add(2 * time.Second), Seconds: 4},
		{Name: recording.PhaseCounts, Start: at.Add(16 * time.Second), Seconds: 3},
	}}
	if got, want := lengths(m), []string{"19.0 s", "clean 2.00 s", "cpu 4.00 s", "counts 3.00 s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	m.Phases[0].Start = time.Time{}
	if got := lengths(m); got != nil {
		t.Errorf("of an older recording: %q", got)
	}
}
