package wall

import "github.com/hone-go/hone/exectrace"

// queue counts who waits at a stack at one time.
type queue struct {
	waiting int32
	longest int32
	since   int64
	some    int64 // nanoseconds with one waiter or more
	several int64 // with two or more
}

// enqueue counts a waiter more or less at a stack.
func (f *Fold) enqueue(s exectrace.StackID, now int64, by int32) {
	at := f.lines.of(f.trace, s)
	for int(at) >= len(f.queue) {
		f.queue = append(f.queue, make([]queue, max(64, len(f.queue)))...)
	}
	q := &f.queue[at]
	if q.waiting > 0 {
		q.some += now - q.since
	}
	if q.waiting > 1 {
		q.several += now - q.since
	}
	q.since = now
	q.waiting += by
	q.longest = max(q.longest, q.waiting)
}
