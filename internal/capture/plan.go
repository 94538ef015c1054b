package capture

import (
	"slices"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// weight divides the duration between the phases. The CPU profile gets half, since findings are
// made from its samples.
var weight = map[string]int{
	recording.PhaseClean:      20,
	recording.PhaseCPU:        50,
	recording.PhaseContention: 15,
	recording.PhaseTrace:      15,
}

// Phases lists the phases that a recording may have besides the clean one, in the order in which
// they run.
func Phases() []string {
	return []string{
		recording.PhaseCPU, recording.PhaseContention, recording.PhaseTrace, recording.PhaseGOGC, recording.PhaseLeaks, recording.PhaseCounts,
		recording.PhaseInputs, recording.PhaseUpgrade,
	}
}

// step is a phase, or a part of one, and its share of the duration.
type step struct {
	phase  string
	length time.Duration
}

// plan divides total between clean and the given phases, in the order in which they run. When
// phases are left out, the others share their time.
//
// The clean phase runs in two halves, before and after the others. A machine whose speed drifts
// then widens the intervals of the overheads. With the reference all on one side, drift would look
// like overhead.
func plan(total time.Duration, phases []string) []step {
	sum := weight[recording.PhaseClean]
	for _, p := range phases {
		sum += weight[p]
	}
	share := func(p string) time.Duration { return total * time.Duration(weight[p]) / time.Duration(sum) }
	clean := share(recording.PhaseClean)
	if len(phases) == 0 {
		return []step{{recording.PhaseClean, clean}}
	}
	steps := []step{{recording.PhaseClean, clean / 2}}
	for _, p := range Phases() {
		if weight[p] > 0 && slices.Contains(phases, p) { // the other phases have a length of their own
			steps = append(steps, step{p, share(p)})
		}
	}
	return append(steps, step{recording.PhaseClean, clean - clean/2})
}

const (
	// slowInTrace is how many slow requests, one after the other, a trace must have room for: of
	// those that its start or its end cuts, it shows little.
	slowInTrace = 4
	// longestTrace is the largest share of the duration, in percent, that a trace gets for them.
	longestTrace = 40
)

// traceLength returns how long the trace is: as planned, or longer if requests take long.
func traceLength(planned, total, slow time.Duration) time.Duration {
	return max(planned, min(slowInTrace*slow, total*longestTrace/100))
}

// windows returns the number of windows to cut a phase into: about one per tick, and at least four,
// so that a short phase has a spread too.
func windows(length, tick time.Duration) int {
	return max(4, int((length+tick/2)/tick))
}
