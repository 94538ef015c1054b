package requests

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// maxWaits is how many different waits of one request are distinguished. The rest are
// summed without their lines.
const maxWaits = 48

// wait is one kind of interval off the processor, of one request.
type wait struct {
	part   Part
	busy   bool // ready: while no processor was idle
	n      int32
	waiter exectrace.StackID // where the goroutine left the processor
	waker  exectrace.StackID // the stack that woke the goroutine; 0: none
	ns     int64
}

// like reports whether two waits are of one kind.
func (w wait) like(o wait) bool {
	return w.waiter == o.waiter && w.waker == o.waker && w.part == o.part && w.busy == o.busy
}

// wait records an interval off the processor. Most requests have each kind of wait only once, and
// the waits of few requests are asked for, so those of a kind are merged only then, or when there
// are many.
func (l *live) wait(p Part, busy bool, waiter, waker exectrace.StackID, d int64) {
	n := len(l.waits)
	if n >= maxWaits || l.merged {
		l.waitMerged(wait{p, busy, 1, waiter, waker, d})
		return
	}
	if n < cap(l.waits) {
		l.waits = l.waits[:n+1]
	} else {
		l.waits = append(l.waits, wait{})
	}
	w := &l.waits[n] // field by field: a composite literal would be built elsewhere and copied, which costs more
	w.part, w.busy, w.n, w.waiter, w.waker, w.ns = p, busy, 1, waiter, waker, d
}

// adopt records the waits of another goroutine.
func (l *live) adopt(ws []wait) {
	if !l.merged && len(l.waits)+len(ws) <= maxWaits {
		l.waits = append(l.waits, ws...)
		return
	}
	for _, w := range ws {
		l.waitMerged(w)
	}
}

// waitMerged records an interval of a request that has many.
func (l *live) waitMerged(w wait) {
	l.merge()
	from := 0
	if l.phase == done {
		from = l.kept
	}
	if len(l.waits)-from >= maxWaits && !slices.ContainsFunc(l.waits[from:], w.like) {
		w.waiter, w.waker = 0, 0
	}
	l.put(from, w)
}

// put adds a wait to the entry of its kind, among those from an index on.
func (l *live) put(from int, o wait) {
	for i := from; i < len(l.waits); i++ {
		if w := &l.waits[i]; w.like(o) {
			w.n += o.n
			w.ns += o.ns
			return
		}
	}
	l.waits = append(l.waits, o)
}

// merge merges the waits of each kind, from now on. Those after the response seemed to be written
// stay apart.
func (l *live) merge() {
	if l.merged {
		return
	}
	l.merged = true
	all := l.waits
	if l.phase != done {
		l.kept = len(all)
	}
	early, late := all[:l.kept], all[l.kept:]
	l.waits = all[:0] // never longer than what was read, so it overwrites nothing unread
	for _, w := range early {
		l.put(0, w)
	}
	l.kept = len(l.waits)
	for _, w := range late {
		l.put(l.kept, w)
	}
}

// unite makes the waits after the response seemed to be written like those before.
func (l *live) unite() {
	if !l.merged {
		return
	}
	late := l.waits[l.kept:]
	l.waits = l.waits[:l.kept]
	for _, w := range late { // overwrites nothing unread
		l.put(0, w)
	}
}
