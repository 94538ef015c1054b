package requests

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// A path can go back further than the spells in memory. Where it needs one that was dropped, the trace is read again up
// to that spell, and the path continues with the spells kept by that reading. A spell has the same number in each reading.

// A reading keeps enough spells for fewReadings readings to cover the rest, but no more than 80 MB of them.
const fewReadings, mostRecords = 8, 1 << 20

// RunPath returns the critical path of the whole run, back from the end of the main goroutine's
// part of the trace, or nil when it is not in the trace or Options.Paths was not set. What is before the spells that
// were kept is lost: see [Fold.Earlier].
func (f *Fold) RunPath() *Path {
	if w := f.run; w != nil && f.runPath == nil {
		w.walk()
		f.runPath = w.finish()
	}
	return f.runPath
}

// Earlier returns a fold that sees what of the whole run's path, or that of Options.PathOf, this one has not kept, when it
// reads the same trace again: it reads as far as that, and keeps the last spells before. It is nil when the path is known
// to its begin. Ask for it again after each reading, and for the path when it is nil, or that is enough.
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
	w.r.ring = nil // what is in it was looked at
	return g
}

// Done says that a fold of [Fold.Earlier] has seen enough.
func (f *Fold) Done() bool { return f.paths != nil && f.paths.full() }

// beginRun goes back along the path of the run from the trace's end.
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

// beginPath goes back along a path from its end, as far as the spells are kept.
func (f *Fold) startPath(s strand, begin, end int64, self uint32) {
	f.run = newWalker(f, f.paths, s, begin, end, self)
	f.run.retrace(f)
}

// goOn goes on with the path of the run that a later part of the trace belongs to. A spell that is not there though it was
// waited for is nowhere: each reading brings the path on.
func (f *Fold) continueRun() {
	w := f.continues.run
	t, seq := w.t, w.seq
	if done := w.retrace(f); !done && w.t == t && w.seq == seq {
		w.gaps++
		w.step()
		w.retrace(f)
	}
}

// Lost reports whether a part of the path was too long ago to be kept.
func (p *Path) Lost() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Lost })
}

// retrace goes back as long as it finds the spells that it looks for, and reports whether it has come to the path's begin. It
// goes on from there with those that another recorder kept.
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
		if before.seq-w.missing >= uint32(len(w.r.ring)) { // no recorder of that size keeps both
			w.gaps++
			continue
		}
		missing := w.missing
		*w = before // a step that looks for a second spell adds nothing to the path
		w.missing = missing
		return false
	}
	return true
}

// get returns a spell, and notes when it is not kept any more.
func (w *walker) get(n uint32) *spell {
	x := w.r.get(n)
	if x == nil && n != 0 {
		w.missing = n
	}
	return x
}

// wants is the last spell that a recorder must keep for the walker to go on: with the one that it missed the one that it
// stands at and, as far as half of the room does, those at which the path goes on with who waits for this.
func (w *walker) lastNeeded() uint32 {
	last := max(w.missing, w.seq)
	for _, x := range w.stack {
		if x.seq > last && x.seq-w.missing < uint32(len(w.r.ring)/2) {
			last = x.seq
		}
	}
	return last
}
