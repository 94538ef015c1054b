package wall

import "github.com/hone-go/hone/exectrace"

// queue counts the goroutines that wait at a line at one time.
type queue struct {
	waiting int32
	longest int32
	since   int64
	some    int64 // nanoseconds with one waiter or more
	several int64 // with two or more
}

// enqueue changes the number of waiters at a stack.
func (f *Fold) enqueue(s exectrace.StackID, now int64, by int32) {
	at := f.queueAt(s)
	if at < 0 {
		return
	}
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

// queueAt returns the number of the line of a stack whose waits are a queue, or -1. Goroutines that
// wait for the garbage collector are in no queue of the program.
func (f *Fold) queueAt(s exectrace.StackID) int32 {
	for int(s) >= len(f.queueOf) {
		f.queueOf = append(f.queueOf, make([]int32, max(256, len(f.queueOf)))...)
	}
	if f.queueOf[s] == 0 {
		f.queueOf[s] = 1
		if isLock(f.object(s, exectrace.WaitSync)) {
			f.queueOf[s] = f.lines.of(f.trace, s) + 2
		}
	}
	return f.queueOf[s] - 2
}
