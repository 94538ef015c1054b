package exectrace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// cursor is a position before an event of a thread: its type and time are decoded, its arguments
// are not, because an event may have to be tried several times before it can be next.
type cursor struct {
	data       []byte // the piece of memory that contains the batch
	time       int64
	pos        int // of the arguments; of the next event after this one was taken
	begin, end int // bounds of the batch in data
	safe       int // head decodes events that start before this position: they cannot exceed the batch
	typ        wire.Type
	cut        wire.Type // the original typ of an event that is truncated by the end of its batch
	m          int32     // index in order.ms
	next       int32     // the batch after this one, or -1
	now        int32     // the current batch, or -1
}

// Upper bounds of the size of an event's type and time, and of its arguments, in bytes.
const (
	headOfEvent = 1 + 10
	argsOfEvent = wire.MaxArgs * 10
)

// position is the result of advance.
type position uint8

const (
	atEvent    position = iota
	atEnd               // the thread has no more batches
	atNonsense          // see wrong
)

// advance decodes the head of the next event.
func (c *cursor) advance(g *generation) position {
	if c.head(g.clock.whole) {
		return c.inTime()
	}
	return c.late(g)
}

// head decodes the head of most events: those that are not close to the end of their batch and
// follow the previous event closely, on a clock with whole nanoseconds. For all others it returns
// false. It is small enough to be inlined.
func (c *cursor) head(whole int64) bool {
	d, i := c.data, c.pos
	if i >= c.safe {
		return false
	}
	typ, dt := d[i], int64(d[i+1])
	i += 2
	if dt >= 0x80 {
		if d[i] >= 0x80 {
			return false
		}
		dt += int64(d[i])<<7 - 0x80
		i++
	}
	c.typ, c.pos = wire.Type(typ), i
	c.time += dt * whole
	return true
}

// late decodes the head of any event.
func (c *cursor) late(g *generation) position {
	for c.pos >= c.end {
		if c.pos > c.end {
			return atNonsense
		}
		if c.now >= 0 {
			g.memory.passed(g.batches[c.now].at)
		}
		if c.next < 0 {
			return atEnd
		}
		c.enter(g, c.next)
	}
	c.typ = wire.Type(c.data[c.pos])
	var dt uint64
	dt, c.pos = uvarint(c.data, c.pos+1)
	c.time += g.clock.base(dt)
	if c.over() {
		c.typ, c.cut = noEvent, c.typ
	}
	return c.inTime()
}

// noEvent is the type of a truncated event.
const noEvent wire.Type = 0

func (c *cursor) inTime() position {
	if c.time >= maxTime {
		return atNonsense
	}
	return atEvent
}

func (c *cursor) enter(g *generation, b int32) {
	bt := &g.batches[b]
	c.now, c.next = b, bt.next
	c.data, c.pos = g.memory.piece(bt.at)
	c.begin, c.end = c.pos, c.pos+int(bt.size)
	c.safe = c.end - headOfEvent - argsOfEvent
	if g.clock.exact == 0 {
		c.safe = 0 // head cannot compute times
	}
	c.time = g.clock.base(bt.time)
}

// wrong returns why advance returned atNonsense.
func (c *cursor) wrong() error {
	if c.pos > c.end {
		return errors.New("the previous event extends beyond the end of its batch")
	}
	return fmt.Errorf("%v has a time out of range", c.typ)
}

// over reports whether the arguments of the event extend beyond the end of the batch.
func (c *cursor) over() bool {
	i := c.pos
	for range wire.Specs[c.typ].Args {
		_, i = uvarint(c.data, i)
	}
	return i > c.end
}

// file returns the approximate offset of the event in the trace: that of its batch plus the
// position in it.
func (c *cursor) file(g *generation) int64 {
	b := &g.batches[c.now]
	return b.file + int64(min(c.pos, c.end)-c.begin)
}

// frontier is a heap of cursors by time. Cursors with equal times are in the same order as in
// golang.org/x/exp/trace, whose heap takes the same steps. Other orders would be right too, but
// equal orders can be compared in tests.
type frontier []head

type head struct {
	time int64
	c    *cursor
}

func (f frontier) up(i int) int {
	for i > 0 && f[(i-1)/2].time > f[i].time {
		f[(i-1)/2], f[i] = f[i], f[(i-1)/2]
		i = (i - 1) / 2
	}
	return i
}

func (f frontier) down(i int) {
	h := f[i]
	for {
		k := 2*i + 1
		if k >= len(f) {
			break
		}
		if k+1 < len(f) && f[k+1].time < f[k].time {
			k++
		}
		if h.time <= f[k].time {
			break
		}
		f[i] = f[k]
		i = k
	}
	f[i] = h
}

// moved restores the heap after the time at i became later or, in a new batch, earlier.
func (f frontier) moved(i int) {
	if f.up(i) == i {
		f.down(i)
	}
}

// remove removes the cursor at i: its ancestors move down by one, and the last cursor moves to the
// root.
func (f *frontier) remove(i int) {
	h := *f
	for ; i > 0; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	last := len(h) - 1
	h[0] = h[last]
	h[last] = head{}
	*f = h[:last]
	if last > 0 {
		(*f).down(0)
	}
}

func (f *frontier) push(c *cursor) {
	*f = append(*f, head{c.time, c})
	f.up(len(*f) - 1)
}

// sort sorts all cursors by time. A sorted slice is still a heap.
func (f frontier) sort() {
	slices.SortFunc(f, func(a, b head) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
}
