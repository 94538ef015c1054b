package exectrace

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// note holds the words of an event. It is valid during the event's block.
type note struct {
	parent uint64
	label  uint32 // index in trace.labels
	name   uint64 // a string of the generation, when there is no label
	text   uint64 // a string of the generation
	begun  bool   // for an end: the begin is known
}

// note attaches words to the last event.
func (o *order) note(n note) {
	o.notes = append(o.notes, n)
	o.events[o.n-1].note = uint32(len(o.notes))
}

func errSampleStack(id uint64) error {
	return fmt.Errorf("a CPU sample has stack %d, which its generation lacks", id)
}

// tasks holds the tasks that have started and not ended.
type tasks struct {
	ids  idTable
	all  []task
	free []uint32
}

type task struct {
	parent uint64
	label  uint32
	stack  StackID
	since  int64
}

// maxTasks bounds the tasks that are remembered: a program that never ends its tasks must not
// exhaust memory. The end of a task that was dropped has no name.
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
	since int64
	label uint32
	outer int32
	stack StackID
}

// maxRegions bounds the open regions that are remembered.
const maxRegions = 1 << 20

func (p *regionPool) forget() { p.all, p.free = p.all[:0], p.free[:0] }

// push returns the index of a new region, or outer when the limit is reached.
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

// drop removes the innermost region and returns the one around it.
func (p *regionPool) drop(i int32) int32 {
	p.free = append(p.free, i)
	return p.all[i].outer
}

// annotation takes what the program reports through runtime/trace.
//
// Unlike in Go's own reader, regions that end out of order are not an error: the program is wrong,
// not the trace.
func (o *order) annotation(c *cursor) verdict {
	m, g := o.user(c)
	if g == nil {
		return o.notUser(c)
	}
	switch c.typ {
	case wire.UserTaskBegin:
		return o.taskBegin(c, m)
	case wire.UserTaskEnd:
		return o.taskEnd(c, m)
	case wire.UserLog:
		return o.log(c, m)
	case wire.GoLabel:
		return o.goLabel(c, m)
	}
	return o.region(c, m, g)
}

// label interns a string of the generation. It returns false when there is no such string.
func (o *order) label(id uint64) (uint32, bool) {
	r := o.g.strings.get(id)
	if r == nil {
		return 0, false
	}
	if r.label != 0 { // the common case
		return r.label, true
	}
	return o.trace.labels.intern(o.g, r), true
}

func (o *order) taskBegin(c *cursor, m *thread) verdict {
	id, parent, i := uvarint2(c.data, c.pos)
	nameID, stackID, i := uvarint2(c.data, i)
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	label, ok := o.label(nameID)
	if !ok {
		return o.noWords(nameID)
	}
	if o.tasks.ids.get(id) != none {
		return o.fail("task %d has already started", id)
	}
	o.occur(c, TaskBegin, m.g, notBegun, id, stack)
	o.note(note{parent: parent, label: label, name: nameID})
	o.tasks.begin(id, task{parent: parent, label: label, stack: stack, since: o.last - o.start})
	c.pos = i
	return taken
}

// taskEnd adds the name and the parent from the begin. A task that started before the trace has
// none, and counts from the start of the trace.
func (o *order) taskEnd(c *cursor, m *thread) verdict {
	id, stackID, i := uvarint2(c.data, c.pos)
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	t, ok := o.tasks.end(id)
	if !ok {
		t.since = o.epoch
	}
	o.occur(c, TaskEnd, m.g, t.since, id, stack)
	o.events[o.n-1].Left = t.stack
	o.note(note{parent: t.parent, label: t.label, begun: ok})
	c.pos = i
	return taken
}

func (o *order) region(c *cursor, m *thread, g *goroutine) verdict {
	task, nameID, stackID, i := uvarint3(c.data, c.pos)
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	label, ok := o.label(nameID)
	if !ok {
		return o.noWords(nameID)
	}
	words := note{label: label, name: nameID}
	if c.typ == wire.UserRegionBegin {
		o.occur(c, RegionBegin, m.g, notBegun, task, stack)
		g.regions = o.marks.push(region{task: task, label: label, outer: g.regions, since: o.last - o.start, stack: stack})
	} else {
		var begin region
		begin, words.begun = o.endRegion(g, task, label)
		o.occur(c, RegionEnd, m.g, begin.since, task, stack)
		o.events[o.n-1].Left = begin.stack
	}
	o.note(words)
	c.pos = i
	return taken
}

func (o *order) log(c *cursor, m *thread) verdict {
	task, nameID, textID, i := uvarint3(c.data, c.pos)
	stackID, i := uvarint(c.data, i)
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	label, ok := o.label(nameID)
	if !ok {
		return o.noWords(nameID)
	}
	if o.g.strings.get(textID) == nil {
		return o.noWords(textID)
	}
	o.occur(c, Log, m.g, notBegun, task, stack)
	o.note(note{label: label, name: nameID, text: textID})
	c.pos = i
	return taken
}

// goLabel names the running goroutine, as the garbage collector does with its workers.
func (o *order) goLabel(c *cursor, m *thread) verdict {
	nameID, i := uvarint(c.data, c.pos)
	label, ok := o.label(nameID)
	if !ok {
		return o.noWords(nameID)
	}
	o.occur(c, GoLabel, m.g, notBegun, 0, 0)
	o.note(note{label: label, name: nameID})
	c.pos = i
	return taken
}

// endRegion returns the region that ends. It closes that region and those inside it that the
// program left open. A region that started before the trace counts from the start of the trace.
func (o *order) endRegion(g *goroutine, task uint64, label uint32) (begin region, known bool) {
	i := g.regions
	for i >= 0 && (o.marks.all[i].task != task || o.marks.all[i].label != label) {
		i = o.marks.all[i].outer
	}
	if i < 0 {
		return region{since: o.epoch}, false
	}
	for g.regions != i {
		g.regions = o.marks.drop(g.regions)
	}
	begin = o.marks.all[i]
	g.regions = o.marks.drop(i)
	return begin, true
}
