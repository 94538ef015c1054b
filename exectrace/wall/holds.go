package wall

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// holds divides waits for locks among the goroutines that held the lock meanwhile. If several
// goroutines queue, each is woken by the one before it, which held the lock for an instant: the
// line that unlocked last would hide the one that kept the lock for long.
type holds struct {
	woken map[exectrace.GIndex]*[nested]handover
	spans map[hold]int64 // nanoseconds of waits
	locks union          // of the lines of spans
}

// nested is how many locks a goroutine holds, or has held, whose last waits are remembered.
const nested = 4

// handover is the end of a goroutine's last wait for a lock.
type handover struct {
	waiter int32 // line
	at     int64
	holder exectrace.StackID // which held the lock for most of the wait, as it unlocked; 0: no wait
}

// hold is a part of the waits at a stack: a waker ended them, and a holder had the lock meanwhile.
type hold struct{ waiter, waker, holder exectrace.StackID }

// add divides a wait that an event ends; the lines are those of the waiter and of the waker. While
// the waker itself waited for this lock, another goroutine held it: the one that the waker mostly
// waited for. Its waits for other locks are different: it may hold this one meanwhile.
func (h *holds) add(waiter exectrace.StackID, lines [2]int32, e *exectrace.Event, d int64) {
	if h.spans == nil {
		h.woken, h.spans, h.locks = map[exectrace.GIndex]*[nested]handover{}, map[hold]int64{}, union{}
	}
	if _, ok := h.spans[hold{waiter, e.Stack, e.Stack}]; !ok {
		h.locks.join(lockNode{line: lines[0]}, lockNode{line: lines[1], wakes: true})
	}
	lock := h.locks.find(lockNode{line: lines[0]})
	before := h.last(e.By, lock)
	others := min(d, max(0, before.at-(e.Time-d)))
	holder := e.Stack
	if others > d/2 {
		holder = before.holder
	}
	if others > 0 {
		h.spans[hold{waiter, e.Stack, before.holder}] += others
	}
	h.spans[hold{waiter, e.Stack, e.Stack}] += d - others
	h.remember(e.G, lock, handover{lines[0], e.Time, holder})
}

// last returns the end of a goroutine's last wait for a lock.
func (h *holds) last(g exectrace.GIndex, lock lockNode) (last handover) {
	if all := h.woken[g]; all != nil {
		for _, w := range all {
			if w.holder != 0 && h.locks.find(lockNode{line: w.waiter}) == lock {
				return w // the latest is first
			}
		}
	}
	return last
}

// remember puts the end of a wait first, in place of the goroutine's last one for the same lock.
func (h *holds) remember(g exectrace.GIndex, lock lockNode, now handover) {
	all := h.woken[g]
	if all == nil {
		all = new([nested]handover)
		h.woken[g] = all
	}
	for i, w := range all {
		all[i], now = now, w
		if w.holder == 0 || h.locks.find(lockNode{line: w.waiter}) == lock {
			return
		}
	}
}

// holders returns the lines that unlocked the lock of a cluster, by the time that goroutines waited
// while they held it. The first events of a trace may name a holder of another lock: then the waker
// is charged.
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
