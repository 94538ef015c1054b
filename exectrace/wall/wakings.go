package wall

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// Wakings are the waits of [Blocking] by the line that ended them.
type Wakings struct {
	Length  float64  `json:"length_seconds"`
	Wakings []Waking `json:"wakings"` // by the time waited, longest first
	// OpenSeconds is the time of waits that had not ended at the end of the trace: they have no
	// waker.
	OpenSeconds float64 `json:"open_seconds,omitempty"`
	OpenCount   int64   `json:"open_count,omitempty"`
}

// Waking is one line that ended waits. Waits that the network poller, a timer or the runtime ended
// have the zero Line.
type Waking struct {
	Line    exectrace.Line `json:"line"`
	Seconds float64        `json:"seconds"` // of the waits that it ended
	Count   int64          `json:"count"`
	// Woken is the waits that it ended, by line and reason, longest first.
	Woken []Woken `json:"woken"`
}

// Woken is the waits at one line, for one reason, that one waker ended.
type Woken struct {
	Line    exectrace.Line `json:"line"`
	Reason  string         `json:"reason"`
	Object  string         `json:"object,omitempty"` // as in Wait
	Seconds float64        `json:"seconds"`
	Count   int64          `json:"count"`
}

// Wakings returns the sums of the waits by waker.
func (f *Fold) Wakings() *Wakings {
	_, byPair, _ := f.waits()
	out := &Wakings{Length: exectrace.Seconds(f.length)}
	index := map[int32]int{} // waking line → index in out
	for k, s := range byPair {
		out.OpenCount += s.open
		out.OpenSeconds += exectrace.Seconds(s.openTotal)
		if s.n == s.open {
			continue
		}
		i, ok := index[k.wake]
		if !ok {
			i = len(out.Wakings)
			index[k.wake] = i
			var w Waking
			if k.wake >= 0 {
				w.Line = f.lines.list[k.wake]
			}
			out.Wakings = append(out.Wakings, w)
		}
		w := &out.Wakings[i]
		seconds, count := exectrace.Seconds(s.over()), s.n-s.open
		w.Seconds += seconds
		w.Count += count
		w.Woken = append(w.Woken, Woken{
			Line: f.lines.list[k.line], Reason: whyName(f.trace, blocked, k.why), Object: k.object,
			Seconds: seconds, Count: count,
		})
	}
	for i := range out.Wakings {
		slices.SortFunc(out.Wakings[i].Woken, func(a, b Woken) int {
			return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Object, b.Object))
		})
	}
	slices.SortFunc(out.Wakings, func(a, b Waking) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line))
	})
	return out
}
