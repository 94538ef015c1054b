package wall

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// Sched is how long ready goroutines waited for a processor.
type Sched struct {
	Length  float64     `json:"length_seconds"`
	Seconds float64     `json:"seconds"`
	Count   int64       `json:"count"`
	Causes  []Part      `json:"causes"`
	Lines   []SchedLine `json:"lines"` // most time first
}

// SchedLine is how long goroutines that became ready at one line waited for a processor.
type SchedLine struct {
	Line    exectrace.Line `json:"line"` // where the goroutine was: at the wait that ended, the go statement, or the loop that was preempted
	Waker   exectrace.Line `json:"waker,omitzero"`
	Why     string         `json:"why"`
	Seconds float64        `json:"seconds"`
	Count   int64          `json:"count"`
	Max     float64        `json:"max_seconds"`
}

// Sched returns the sums of the runnable time.
func (f *Fold) Sched() *Sched {
	var causes sums
	b := newBreakdown(f)
	sum := map[pairKey]*waitSum{}
	out := &Sched{Length: exectrace.Seconds(f.length)}
	var total int64
	for i := range f.table.rows {
		r := &f.table.rows[i]
		if r.what() != runnable {
			continue
		}
		b.add(&causes, r)
		k := pairKey{waitKey: waitKey{line: f.lines.of(f.trace, r.left()), why: r.why()}, wake: -1}
		if r.wake() != 0 && r.why() == exectrace.Woken {
			k.wake = f.lines.of(f.trace, r.wake())
		}
		sumAt(sum, k).add(r)
		total += r.total
		out.Count += r.n
	}
	out.Seconds = exectrace.Seconds(total)
	out.Causes = causes.list(f.trace)
	for k, s := range sum {
		l := SchedLine{Line: f.lines.list[k.line], Why: whyName(f.trace, runnable, k.why), Seconds: exectrace.Seconds(s.total), Count: s.n, Max: exectrace.Seconds(s.max)}
		if k.wake >= 0 {
			l.Waker = f.lines.list[k.wake]
		}
		out.Lines = append(out.Lines, l)
	}
	slices.SortFunc(out.Lines, func(a, b SchedLine) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line), a.Waker.Compare(b.Waker), cmp.Compare(a.Why, b.Why))
	})
	return out
}
