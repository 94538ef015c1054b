package exectrace

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// note are the words of an event, for the time of its block.
type note struct {
	parent uint64
	label  uint32 // among trace.labels
	name   uint64 // a string of the generation, when there is no label
	text   uint64 // a string of the generation
}

// note gives the last event words.
func (o *order) note(n note) {
	o.notes = append(o.notes, n)
	o.events[o.n-1].note = uint32(len(o.notes))
}

func errSampleStack(id uint64) error {
	return fmt.Errorf("a CPU sample has stack %d, which its generation lacks", id)
}

// tasks are the tasks that have begun and not ended.
type tasks struct {
	ids  idTable
	all  []task
	free []uint32
}

type task struct {
	parent uint64
	label  uint32
	since  int64
}

// maxTasks bounds the tasks that are remembered: a program that ends none must not fill the
// memory. The end of one that was forgotten has no name.
const maxTasks = 1 << 18

func (t *tasks) forget() {
	t.ids.clear()
	t.all, t.free = t.all[:0], t.free[:0]
}

func (t *tasks) begin(id uint64, k task) {
	if t.ids.n >= maxTasks {
		return
	}
	var i uint32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
		t.all[i] = k
	} else {
		i = uint32(len(t.all))
		t.all = append(t.all, k)
	}
	t.ids.put(id, i)
}

func (t *tasks) end(id uint64) (task, bool) {
	i := t.ids.get(id)
	if i == none {
		return task{}, false
	}
	t.ids.drop(id)
	t.free = append(t.free, i)
	return t.all[i], true
}

// regionPool holds the regions of all goroutines, as lists: most goroutines have none.
type regionPool struct {
	all  []region
	free []int32
}

type region struct {
	task  uint64
	label uint32
	outer int32
	since int64
}

// maxRegions bounds the open regions that are remembered.
const maxRegions = 1 << 20

func (p *regionPool) forget() { p.all, p.free = p.all[:0], p.free[:0] }

// push returns the place of a new region, or outer when there is no room.
func (p *regionPool) push(r region) int32 {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		p.all[i] = r
		return i
	}
	if len(p.all) >= maxRegions {
		return r.outer
	}
	p.all = append(p.all, r)
	return int32(len(p.all) - 1)
}

// drop takes out the innermost region and returns the one around it.
func (p *regionPool) drop(i int32) int32 {
	p.free = append(p.free, i)
	return p.all[i].outer
}

// annotation is what the program says itself, through runtime/trace.
//
// Unlike Go's own reader, regions that end out of order are no error: it is the program
// that is wrong, not the trace.
func (o *order) annotation(c *cursor) verdict {
	m, g := o.user(c)
	if g == nil {
		return o.notUser(c)
	}
	args := wire.Specs[c.typ].Args
	var a [wire.MaxArgs]uint64
	i := c.pos
	for k := range args {
		a[k], i = uvarint(c.data, i)
	}
	var stack StackID
	if c.typ != wire.GoLabel {
		id := a[len(args)-1]
		if stack = o.g.stacks.get(id); stack == noSuchStack {
			return o.noStack(id)
		}
	}
	v := o.words(c, m, g, a, stack)
	if v == taken {
		c.pos = i
	}
	return v
}

// label interns a string of the generation. It returns false when there is none.
func (o *order) label(id uint64) (uint32, bool) {
	r := o.g.strings.get(id)
	if r == nil {
		return 0, false
	}
	return o.trace.labels.intern(o.g, r), true
}

func (o *order) words(c *cursor, m *thread, g *goroutine, a [wire.MaxArgs]uint64, stack StackID) verdict {
	var n note
	switch c.typ {
	case wire.GoLabel:
		n.name = a[0]
	case wire.UserTaskBegin:
		n.parent, n.name = a[1], a[2]
	case wire.UserRegionBegin, wire.UserRegionEnd:
		n.name = a[1]
	case wire.UserLog:
		n.name, n.text = a[1], a[2]
		if o.g.strings.get(n.text) == nil {
			return o.noWords(n.text)
		}
	}
	var ok bool
	if n.label, ok = o.label(n.name); !ok {
		return o.noWords(n.name)
	}
	switch c.typ {
	case wire.GoLabel:
		o.occur(c, GoLabel, m.g, notBegun, 0, 0)
	case wire.UserLog:
		o.occur(c, Log, m.g, notBegun, a[0], stack)
	case wire.UserTaskBegin:
		if o.tasks.ids.get(a[0]) != none {
			return o.fail("task %d has begun already", a[0])
		}
		o.occur(c, TaskBegin, m.g, notBegun, a[0], stack)
		o.tasks.begin(a[0], task{parent: a[1], label: n.label, since: o.last - o.start})
	case wire.UserTaskEnd:
		since := o.epoch
		if t, ok := o.tasks.end(a[0]); ok {
			n.parent, n.label, since = t.parent, t.label, t.since
		}
		o.occur(c, TaskEnd, m.g, since, a[0], stack)
	case wire.UserRegionBegin:
		o.occur(c, RegionBegin, m.g, notBegun, a[0], stack)
		g.regions = o.marks.push(region{task: a[0], label: n.label, outer: g.regions, since: o.last - o.start})
	case wire.UserRegionEnd:
		o.occur(c, RegionEnd, m.g, o.endRegion(g, a[0], n.label), a[0], stack)
	}
	o.note(n)
	return taken
}

// endRegion returns when the region began, and closes it and those inside it that the program
// left open. A region that began before the trace counts from the trace's begin.
func (o *order) endRegion(g *goroutine, task uint64, label uint32) int64 {
	i := g.regions
	for i >= 0 && (o.marks.all[i].task != task || o.marks.all[i].label != label) {
		i = o.marks.all[i].outer
	}
	if i < 0 {
		return o.epoch
	}
	for g.regions != i {
		g.regions = o.marks.drop(g.regions)
	}
	since := o.marks.all[i].since
	g.regions = o.marks.drop(i)
	return since
}
