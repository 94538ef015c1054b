package wall

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// holds divides waits for locks among the goroutines that held the lock meanwhile. If several
// goroutines queue, each is woken by the one before it, which held the lock for an instant: the
// line that unlocked last would hide the one that kept the lock for long.
type holds struct {
	woken map[exectrace.GIndex]handover
	spans map[hold]int64 // nanoseconds of waits
}

// handover is the end of a goroutine's last wait for a lock.
type handover struct {
	at     int64
	holder exectrace.StackID // which held the lock for most of the wait, as it unlocked
}

// hold is a part of the waits at a stack: a waker ended them, and a holder had the lock meanwhile.
type hold struct{ waiter, waker, holder exectrace.StackID }

// add divides a wait that an event ends. While the waker itself waited, another goroutine held the
// lock: the one that the waker mostly waited for.
func (h *holds) add(waiter exectrace.StackID, e *exectrace.Event, d int64) {
	if h.spans == nil {
		h.woken, h.spans = map[exectrace.GIndex]handover{}, map[hold]int64{}
	}
	before := h.woken[e.By]
	others := min(d, max(0, before.at-(e.Time-d)))
	holder := e.Stack
	if others > d/2 {
		holder = before.holder
	}
	if others > 0 {
		h.spans[hold{waiter, e.Stack, before.holder}] += others
	}
	h.spans[hold{waiter, e.Stack, e.Stack}] += d - others
	h.woken[e.G] = handover{e.Time, holder}
}

// holders returns the lines that unlocked the lock of a cluster, by the time that goroutines waited
// while they held it. A waker that waited for another lock before is charged itself.
func (f *Fold) holders(c *lockSum, held map[[3]int32]int64) []Waker {
	seconds := map[int32]int64{}
	for k, ns := range held {
		if _, ok := c.waiters[k[0]]; !ok || c.holders[k[1]] == nil {
			continue
		}
		if c.holders[k[2]] == nil {
			k[2] = k[1]
		}
		seconds[k[2]] += ns
	}
	out := make([]Waker, 0, len(c.holders))
	for line, s := range c.holders {
		out = append(out, Waker{Line: f.lines.list[line], Seconds: exectrace.Seconds(seconds[line]), Count: s.n})
	}
	slices.SortFunc(out, longestFirst)
	return out
}

// heldAt returns what add divided, by lines.
func (f *Fold) heldAt() map[[3]int32]int64 {
	at := map[[3]int32]int64{}
	for k, ns := range f.holds.spans {
		line := func(s exectrace.StackID) int32 { return f.lines.of(f.trace, s) }
		at[[3]int32{line(k.waiter), line(k.waker), line(k.holder)}] += ns
	}
	return at
}
