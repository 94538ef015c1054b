package capture

import (
	"slices"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// weight shares the duration between the phases, as DESIGN has it: the CPU profile
// gets half, since its samples are what findings are made of.
var weight = map[string]int{
	recording.PhaseClean:      20,
	recording.PhaseCPU:        50,
	recording.PhaseContention: 15,
	recording.PhaseTrace:      15,
}

// Phases are those that a recording may have beside the clean one, in the order of running.
func Phases() []string {
	return []string{recording.PhaseCPU, recording.PhaseContention, recording.PhaseTrace, recording.PhaseGOGC, recording.PhaseCounts, recording.PhaseInputs}
}

// step is a phase, or a part of one, and its share of the duration.
type step struct {
	phase  string
	length time.Duration
}

// plan shares total between clean and the given phases, in the order of running.
// When phases are left out the rest share their time.
//
// The clean phase is run in two halves, before and after the others. A machine
// whose speed drifts then widens the intervals of the observer effects; with the
// reference all on one side the drift would pass for an effect.
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

// windows says into how many windows to cut a phase: about one a tick, and at
// least four, so that a short phase has a spread too.
func windows(length, tick time.Duration) int {
	return max(4, int((length+tick/2)/tick))
}
