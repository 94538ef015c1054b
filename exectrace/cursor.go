package exectrace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// cursor stands before an event of a thread: its type and time are decoded, its arguments
// are not, for an event may be tried more than once before its turn comes.
type cursor struct {
	data       []byte // the piece of memory with the batch
	time       int64
	pos        int // of the arguments; of the next event once the event was taken
	begin, end int // of the batch in data
	safe       int // an event that begins before it is for head: it cannot run over the end
	typ        wire.Type
	cut        wire.Type // what typ was, of an event that is cut off at the end of its batch
	m          int32     // place in order.ms
	next       int32     // batch after this one, or -1
	now        int32     // batch, or -1
}

// Upper bounds of the bytes of an event's type and time, and of its arguments.
const (
	headOfEvent = 1 + 10
	argsOfEvent = wire.MaxArgs * 10
)

// position is where advance leaves a cursor.
type position uint8

const (
	atEvent    position = iota
	atEnd               // of the thread's batches
	atNonsense          // see wrong
)

// advance decodes the head of the next event.
func (c *cursor) advance(g *generation) position {
	if c.head(g.clock.whole) {
		return c.inTime()
	}
	return c.late(g)
}

// head decodes the head of most events: those that are far from the end of their batch and soon after the event
// before, on a clock of whole nanoseconds. It leaves the others alone, and is small enough to be inlined.
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

// noEvent is the type of an event that is cut off.
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
		c.safe = 0 // head has no time
	}
	c.time = g.clock.base(bt.time)
}

// wrong says why advance found nonsense.
func (c *cursor) wrong() error {
	if c.pos > c.end {
		return errors.New("the event before runs over the end of its batch")
	}
	return fmt.Errorf("%v at a time out of range", c.typ)
}

// over reports whether the arguments of the event run over the end of the batch.
func (c *cursor) over() bool {
	i := c.pos
	for range wire.Specs[c.typ].Args {
		_, i = uvarint(c.data, i)
	}
	return i > c.end
}

// file returns where the event is in the trace, about: its batch, and how far in it.
func (c *cursor) file(g *generation) int64 {
	b := &g.batches[c.now]
	return b.file + int64(min(c.pos, c.end)-c.begin)
}

// frontier is a heap of cursors by time. Where times are equal its order is that of
// golang.org/x/exp/trace, whose heap works in the same steps: both orders would be right,
// but equal ones can be compared.
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

// moved restores the order after the time at i became later or, in a new batch, earlier.
func (f frontier) moved(i int) {
	if f.up(i) == i {
		f.down(i)
	}
}

// remove takes out i: its ancestors move down by one, the last moves to the root.
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

// sort brings all into the order of time. A sorted slice is still a heap.
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
