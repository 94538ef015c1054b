package repeatedwork

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/units"
)

// inSuccession reports whether enough of the calls had the input of the call before, in a benchmark
// or a program whose inputs change: a document is parsed for its title, then for its author. Of a
// benchmark, operations that follow each other with one input are not repetitions: its input must
// change about as often as an operation starts.
func (f *found) inSuccession(p *rule.Pass) bool {
	const variety = 10 // different inputs that show that the input does change
	if f.InRequest > 0 || len(f.Again) == 0 || f.Different < variety || f.Again[0].Calls < provedCalls {
		return false
	}
	calls, same := float64(f.Again[0].Calls), float64(f.Again[0].Same)
	changes := calls - same
	share := same / calls
	switch window := p.Inputs.Units; {
	case p.Manifest.Target.Bench != "" && window > 0 && !f.Stopped:
		if changes < 0.9*window {
			return false
		}
		f.words = fmt.Sprintf("%s calls in each operation, %s", units.Number(float64(f.Calls)/(window+1)), before(share))
	case p.Manifest.Unit() == "run" && f.Calls >= fewCalls:
		f.words = fmt.Sprintf("%s calls were examined, %s", units.Count(f.Calls), before(share))
	default:
		return false
	}
	f.where, f.repeats = inARow, share
	return share >= leastRepeats
}

func before(share float64) string {
	return units.Percent(share) + " of them with the input of the call before"
}
