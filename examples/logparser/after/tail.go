package main

import (
	"slices"
	"sync"
)

// tailLength is how many records of a customer can be looked at again.
const tailLength = 50

// tail holds the last records of a customer. It may be used by many goroutines;
// records in it are never changed.
type tail struct {
	mu   sync.Mutex
	last [tailLength]*record
	next int // where the oldest is, or nothing yet
}

func (t *tail) add(r *record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[t.next] = r
	t.next = (t.next + 1) % tailLength
}

// records returns the records, oldest first.
func (t *tail) records() []*record {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Concat(t.last[t.next:], t.last[:t.next])
	return slices.DeleteFunc(all, func(r *record) bool { return r == nil })
}
