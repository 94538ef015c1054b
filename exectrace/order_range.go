package exectrace

import "github.com/hone-go/hone/exectrace/internal/wire"

// user returns the goroutine on the thread of c, which must have a processor: ranges and
// annotations belong to it.
func (o *order) user(c *cursor) (*thread, *goroutine) {
	m := &o.ms[c.m]
	if m.p < 0 || m.g == NoG {
		return nil, nil
	}
	return m, &o.gs[m.g]
}

func (o *order) notUser(c *cursor) verdict {
	switch m := &o.ms[c.m]; {
	case c.m == 0:
		return o.fail("no thread")
	case m.p < 0:
		return o.fail("the thread has no processor")
	}
	return o.fail("no goroutine runs on the thread")
}

// occur appends an event that changes no state.
func (o *order) occur(c *cursor, kind Kind, g GIndex, since int64, value uint64, stack StackID) {
	m := &o.ms[c.m]
	now := o.stamp(c.time)
	if since == notBegun {
		since = now
	}
	e := o.next().change(kind, Unknown, Unknown, ReasonNone, ReasonNone).when(now, since)
	e.Value = value
	e.who(g, m.g).where(m.p, c.m-1).stacks(stack, 0)
	o.markRare()
}

// heap takes a reading of a heap counter. It needs a processor, but no goroutine.
func (o *order) heap(c *cursor) verdict {
	v, i := uvarint(c.data, c.pos)
	if o.ms[c.m].p < 0 {
		return o.fail("the thread has no processor")
	}
	kind := HeapAlloc
	if c.typ == wire.HeapGoal {
		kind = HeapGoal
	}
	o.occur(c, kind, o.ms[c.m].g, notBegun, v, 0)
	c.pos = i
	return taken
}

// goRange takes a range of a goroutine: it stops the world, or assists the garbage collector.
func (o *order) goRange(c *cursor) verdict {
	if c.typ == wire.GCMarkAssistActive {
		return o.assistActive(c)
	}
	m, g := o.user(c)
	if g == nil {
		return o.notUser(c)
	}
	switch c.typ {
	case wire.STWBegin:
		return o.stwBegin(c, m, g)
	case wire.STWEnd:
		s, ok := o.stops[m.g]
		if !ok {
			return o.fail("goroutine %d has not stopped the world", g.ID)
		}
		o.occur(c, STWEnd, m.g, s.since, 0, 0)
		e := &o.events[o.n-1]
		e.Why = ReasonOther
		o.note(note{label: s.why})
		delete(o.stops, m.g)
	case wire.GCMarkAssistBegin:
		stackID, i := uvarint(c.data, c.pos)
		stack := o.g.stacks.get(stackID)
		if stack == noSuchStack {
			return o.noStack(stackID)
		}
		if g.assist != notBegun {
			return o.fail("goroutine %d already assists", g.ID)
		}
		o.occur(c, GCMarkAssistBegin, m.g, notBegun, 0, stack)
		g.assist = o.last - o.start
		c.pos = i
	case wire.GCMarkAssistEnd:
		if g.assist == notBegun {
			return o.fail("goroutine %d does not assist", g.ID)
		}
		o.occur(c, GCMarkAssistEnd, m.g, g.assist, 0, 0)
		g.assist = notBegun
	}
	return taken
}

func (o *order) stwBegin(c *cursor, m *thread, g *goroutine) verdict {
	wordsID, stackID, i := uvarint2(c.data, c.pos)
	if _, ok := o.stops[m.g]; ok {
		return o.fail("goroutine %d has already stopped the world", g.ID)
	}
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	words := o.g.strings.get(wordsID)
	if words == nil {
		return o.noWords(wordsID)
	}
	o.occur(c, STWBegin, m.g, notBegun, 0, stack)
	o.events[o.n-1].Why = ReasonOther
	s := stop{o.last - o.start, o.trace.labels.intern(o.g, words)}
	o.stops[m.g] = s
	o.note(note{label: s.why})
	c.pos = i
	return taken
}

// assistActive takes an assist that started before the generation: new in the first generation,
// known in later ones. Like a status, it may come from any thread.
func (o *order) assistActive(c *cursor) verdict {
	id, i := uvarint(c.data, c.pos)
	k := GIndex(o.goids.get(id))
	if k == NoG {
		return o.fail("goroutine %d is not known", id)
	}
	g := &o.gs[k]
	if (g.assist == notBegun) != o.g.first {
		return o.fail("goroutine %d assists here, which contradicts earlier events", id)
	}
	if o.g.first {
		g.assist = o.epoch
	}
	o.occur(c, GCMarkAssistActive, k, g.assist, 0, 0)
	c.pos = i
	return taken
}

// sweep takes a range of a processor, which needs no goroutine.
func (o *order) sweep(c *cursor) verdict {
	a, i := uvarint(c.data, c.pos)
	if c.typ == wire.GCSweepActive {
		p := o.proc(a)
		if p == nil {
			return o.fail("processor %d is not known", a)
		}
		if (p.sweep == notBegun) != o.g.first {
			return o.fail("processor %d sweeps here, which contradicts earlier events", a)
		}
		if o.g.first {
			p.sweep = o.epoch
		}
		o.occur(c, GCSweepActive, NoG, p.sweep, 0, 0)
		o.events[o.n-1].P = int32(a)
		c.pos = i
		return taken
	}
	m := &o.ms[c.m]
	if m.p < 0 {
		return o.fail("the thread has no processor")
	}
	p := &o.ps[m.p]
	if c.typ == wire.GCSweepBegin {
		stack := o.g.stacks.get(a)
		if stack == noSuchStack {
			return o.noStack(a)
		}
		if p.sweep != notBegun {
			return o.fail("processor %d already sweeps", m.p)
		}
		o.occur(c, GCSweepBegin, m.g, notBegun, 0, stack)
		p.sweep = o.last - o.start
		c.pos = i
		return taken
	}
	_, i = uvarint(c.data, i) // bytes reclaimed
	if p.sweep == notBegun {
		return o.fail("processor %d does not sweep", m.p)
	}
	o.occur(c, GCSweepEnd, m.g, p.sweep, a, 0)
	p.sweep = notBegun
	c.pos = i
	return taken
}

// cycle is the marking phase. It starts and ends on different threads, so its events are numbered.
type cycle struct {
	known, running bool
	seq            uint64
	since          int64
}

// gc takes the events of the marking phase, in the order of their numbers. What happened before the
// trace is unknown: the first event may be any but an end.
func (o *order) gc(c *cursor) verdict {
	seq, i := uvarint(c.data, c.pos)
	y := &o.cycle
	var stack StackID
	if c.typ == wire.GCBegin {
		var stackID uint64
		stackID, i = uvarint(c.data, i)
		if stack = o.g.stacks.get(stackID); stack == noSuchStack {
			return o.noStack(stackID)
		}
	}
	if c.typ == wire.GCActive && o.g.first && y.known {
		return o.fail("a collection is reported as already running, but its start was seen")
	}
	if unknown := !y.known && (c.typ == wire.GCBegin || c.typ == wire.GCActive && o.g.first); !unknown {
		if seq != y.seq+1 {
			return notYet
		}
		if !y.known || y.running != (c.typ != wire.GCBegin) {
			return o.fail("a collection runs: %v", y.running)
		}
		if _, g := o.user(c); g == nil {
			return o.notUser(c)
		}
	}
	switch c.typ {
	case wire.GCBegin:
		o.occur(c, GCBegin, o.ms[c.m].g, notBegun, 0, stack)
		y.since = o.last - o.start
	case wire.GCActive:
		if !y.known {
			y.since = o.epoch
		}
		o.occur(c, GCActive, o.ms[c.m].g, y.since, 0, 0)
	default:
		o.occur(c, GCEnd, o.ms[c.m].g, y.since, 0, 0)
	}
	y.known, y.seq, y.running = true, seq, c.typ != wire.GCEnd
	c.pos = i
	return taken
}

// sample appends a CPU sample. The goroutine may be unknown: samples are only approximately in
// order.
func (o *order) sample(s *sample) error {
	stack := o.g.stacks.get(s.stack)
	if stack == noSuchStack {
		return at(o.g.end, errSampleStack(s.stack))
	}
	m, err := o.thread(s.thread)
	if err != nil {
		return at(o.g.end, err)
	}
	e := Event{Time: o.stamp(s.time), Kind: CPUSample, G: NoG, By: NoG, P: -1, M: m - 1, Stack: stack}
	e.Since = e.Time
	if s.goid != 0 {
		e.G = GIndex(o.goids.get(s.goid))
		e.By = e.G
	}
	if s.proc < maxProcs {
		e.P = int32(s.proc)
	}
	*o.next() = e
	o.markRare()
	o.trace.info.CPUSamples++
	return nil
}
