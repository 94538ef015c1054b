package leakgrowth

import (
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/recording"
)

const (
	// several times the memory of the requests that may be under way must stay: those of one
	// profile may have made more than the mean, and the profile samples.
	several = 4
	// collecting is how many seconds a collection takes at most, on a machine that other processes
	// use as well.
	collecting = 0.1
	// leastKept is the minimum part of what all requests so far would have left behind, at the rate
	// of the window, that must be live at the end. The profile samples, and caches fill up.
	leastKept = 0.5
)

// underWay reports whether the live memory may be that of requests under way, or may have been made
// while the collection before the heap profile ran: such objects survive it.
func (w *window) underWay(g growth) bool {
	made := float64(g.made)
	passing := made * collecting / w.phase.Seconds
	if load := w.pass.Manifest.Load; load != nil && w.requests > 0 {
		passing += several * made / float64(w.requests) * float64(load.Connections)
	}
	return float64(g.bytes) < passing
}

// accumulated reports whether the live memory at the end is what objects that each request leaves
// behind, at the rate of the window, amount to: memory that is in use for a while is as much after
// many requests as after few. It is true where no load is known. It does not hold of the tables of
// maps, which grow in steps.
func (w *window) accumulated(g growth) bool {
	if w.pass.Manifest.Load == nil || w.requests <= 0 {
		return true
	}
	served := int64(0)
	for i := range w.pass.Manifest.Phases {
		ph := &w.pass.Manifest.Phases[i]
		if ph.Name == recording.PhaseRest { // the heap profile is of that phase
			live, _ := stacks.Sum(g.live)
			return float64(live) >= leastKept*float64(g.bytes)/float64(w.requests)*float64(served)
		}
		served += ph.Requests
	}
	return true
}
