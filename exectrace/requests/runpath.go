package requests

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// A path can go back further than the recorder's memory. Where it needs an interval that was
// dropped, the trace is read again up to that interval, and the path continues with those that this
// reading recorded. An interval has the same number in each reading.

// A recorder of a later reading is large enough that fewReadings readings cover the rest, but at
// most 80 MB.
const fewReadings, mostRecords = 8, 1 << 20

// RunPath returns the critical path of the whole run, back from the end of the main goroutine's
// part of the trace. It is nil if the main goroutine is not in the trace or Options.Paths was not
// set. What happened before the recorded intervals is lost: see [Fold.Earlier].
func (f *Fold) RunPath() *Path {
	if w := f.run; w != nil && f.runPath == nil {
		w.walk()
		f.runPath = w.finish()
	}
	return f.runPath
}

// Earlier returns a fold for another reading of the same trace. It records the part of the whole
// run's path, or of that of Options.PathOf, that is not known yet. It is nil when the path is known
// back to its start. Call it again after each reading until it is nil, or until the path is long
// enough, then ask for the path.
func (f *Fold) Earlier() *Fold {
	w := f.run
	if w == nil || f.runPath != nil || w.t <= w.path.Begin {
		return nil
	}
	g := New(Options{Paths: true, PathRecords: min(int(w.missing)/fewReadings, mostRecords), Slowest: 1})
	g.continues = f
	g.paths.stop = w.lastNeeded()
	if len(g.paths.ring) <= len(w.r.ring) {
		g.paths.ring = w.r.ring
	}
	w.r.ring = nil // the path is past what it holds
	return g
}

// Done reports whether a fold of [Fold.Earlier] needs no more of the trace.
func (f *Fold) Done() bool { return f.paths != nil && f.paths.full() }

// startRun follows the path of the run back from the trace's end.
func (f *Fold) startRun() {
	if f.paths == nil {
		return
	}
	for g, s := range f.paths.gs {
		if s.goid != 1 || f.length == 0 {
			continue
		}
		s = f.paths.upTo(f, exectrace.GIndex(g), f.length)
		f.startPath(s, 0, f.length, 0)
		return
	}
}

// startPath follows a path back from its end, as far as intervals are recorded.
func (f *Fold) startPath(s strand, begin, end int64, self uint32) {
	f.run = newWalker(f, f.paths, s, begin, end, self)
	f.run.retrace(f)
}

// continueRun continues the path that this reading is for. If an interval is still missing, no
// reading can have it: the path goes on without it, so each reading makes progress.
func (f *Fold) continueRun() {
	w := f.continues.run
	t, seq := w.t, w.seq
	if done := w.retrace(f); !done && w.t == t && w.seq == seq {
		w.gaps++
		w.step()
		w.retrace(f)
	}
}

// Lost reports whether part of the path was too long ago to be recorded.
func (p *Path) Lost() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Lost })
}

// retrace follows the path back as long as its intervals are recorded, by f's recorder, and reports
// whether it reached the path's start.
func (w *walker) retrace(f *Fold) bool {
	w.f, w.r = f, f.paths
	for w.t > w.path.Begin {
		before := *w
		w.missing = 0
		if w.t > w.floor && w.get(w.seq) == nil && w.missing != 0 {
			return false
		}
		w.step()
		if w.missing == 0 {
			continue
		}
		if before.seq-w.missing >= uint32(len(w.r.ring)) { // no recorder of that size holds both
			w.gaps++
			continue
		}
		missing := w.missing
		*w = before // a step that misses its second interval adds nothing to the path
		w.missing = missing
		return false
	}
	return true
}

// get returns an interval, and notes in missing that it is no longer recorded.
func (w *walker) get(n uint32) *spell {
	x := w.r.get(n)
	if x == nil && n != 0 {
		w.missing = n
	}
	return x
}

// lastNeeded returns the last interval that the next recorder must hold for the walker to go on:
// the missing one, the current one and, as far as half of the ring allows, those at which the path
// returns to goroutines that wait.
func (w *walker) lastNeeded() uint32 {
	last := max(w.missing, w.seq)
	for _, x := range w.stack {
		if x.seq > last && x.seq-w.missing < uint32(len(w.r.ring)/2) {
			last = x.seq
		}
	}
	return last
}
