package capture

import (
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

// step is a phase and its share of the duration.
type step struct {
	phase  string
	length time.Duration
}

// plan shares total between clean and the given phases, in the order of running.
// When phases are left out the rest share their time.
func plan(total time.Duration, phases []string) []step {
	has := map[string]bool{recording.PhaseClean: true}
	for _, p := range phases {
		has[p] = true
	}
	order := []string{recording.PhaseClean, recording.PhaseCPU, recording.PhaseContention, recording.PhaseTrace}
	sum := 0
	for _, p := range order {
		if has[p] {
			sum += weight[p]
		}
	}
	var steps []step
	for _, p := range order {
		if has[p] {
			steps = append(steps, step{p, total * time.Duration(weight[p]) / time.Duration(sum)})
		}
	}
	return steps
}

// windows says into how many windows to cut a phase: about one a tick, and at
// least four, so that a short phase has a spread too.
func windows(length, tick time.Duration) int {
	return max(4, int((length+tick/2)/tick))
}
