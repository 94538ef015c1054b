package capture

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
)

func TestTraceHazardIsReportedWhereItIs(t *testing.T) {
	for _, c := range []struct {
		phase, version string
		want           bool
	}{
		{recording.PhaseTrace, "go1.26.8", true},
		{recording.PhaseTrace, "go1.25", true},
		{recording.PhaseTrace, "go1.26rc1", true},
		{recording.PhaseTrace, "go1.24.3", false},
		{recording.PhaseTrace, "go1.260", false},
		{recording.PhaseTrace, "", false},
		{recording.PhaseCPU, "go1.26.8", false},
	} {
		if got := strings.Contains(traceHazard(c.phase, c.version), "73664"); got != c.want {
			t.Errorf("%s in phase %s: got %v, want %v", c.version, c.phase, got, c.want)
		}
	}
}
