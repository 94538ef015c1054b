package exectrace

import "github.com/hone-go/hone/exectrace/internal/wire"

// newGoroutine adds a goroutine to the table.
func (o *order) newGoroutine(id uint64, state State, now int64) (GIndex, *goroutine) {
	var i GIndex
	if n := len(o.free); n > 0 {
		i = o.free[n-1]
		o.free = o.free[:n-1]
	} else {
		i = GIndex(len(o.gs))
		o.gs = append(o.gs, goroutine{})
	}
	o.goids.put(id, uint32(i))
	o.trace.info.Goroutines++
	g := &o.gs[i]
	*g = goroutine{
		Goroutine: Goroutine{ID: id, State: state, Since: now, Thread: -1},
		gen:       o.turn, assist: notBegun, regions: -1,
	}
	return i, g
}

// end removes a goroutine from the table. Its slot is reused after this block.
func (o *order) end(i GIndex, g *goroutine, now int64) {
	o.goids.drop(g.ID)
	g.State, g.Why, g.Since, g.Thread = Gone, ReasonNone, now, -1
	for g.regions >= 0 {
		g.regions = o.marks.drop(g.regions)
	}
	if len(o.stops) > 0 {
		delete(o.stops, i)
	}
	o.gone = append(o.gone, i)
}

// on returns the goroutine that runs on the thread of c, on a processor, in a state; nil if there
// is none.
func (o *order) on(c *cursor, state State) (*thread, *goroutine) {
	m := &o.ms[c.m]
	if m.p < 0 || int(m.g) >= len(o.gs) {
		return nil, nil
	}
	g := &o.gs[m.g]
	if g.State != state || g.Thread != c.m-1 {
		return nil, nil
	}
	return m, g
}

// notOn returns why on found no goroutine.
func (o *order) notOn(c *cursor, state State) verdict {
	switch m := &o.ms[c.m]; {
	case c.m == 0:
		return o.fail("no thread")
	case m.g == NoG:
		return o.fail("no goroutine runs on the thread")
	case m.p < 0:
		return o.fail("the thread has no processor")
	default:
		g := &o.gs[m.g]
		return o.fail("goroutine %d is %v, not %v, or on another thread", g.ID, g.State, state)
	}
}

// noStack and noWords report that an event refers to a stack or a string that the tables of its
// generation lack.
func (o *order) noStack(id uint64) verdict { return o.fail("no stack %d in its generation", id) }
func (o *order) noWords(id uint64) verdict { return o.fail("no string %d in its generation", id) }

// goCreate: the thread has a processor. The creator is a goroutine or the runtime.
func (o *order) goCreate(c *cursor) verdict {
	id, entryID, stackID, i := uvarint3(c.data, c.pos)
	m := o.ms[c.m]
	if m.p < 0 {
		return o.fail("the thread has no processor")
	}
	if m.g != NoG && o.gs[m.g].State != Running {
		return o.fail("its creator, goroutine %d, is %v", o.gs[m.g].ID, o.gs[m.g].State)
	}
	if o.goids.get(id) != none {
		return o.fail("goroutine %d already exists", id)
	}
	if o.goids.n >= maxGoroutines {
		return o.fail("more than %d goroutines at a time", maxGoroutines)
	}
	entry, stack := o.g.stacks.get(entryID), o.g.stacks.get(stackID)
	if entry == noSuchStack || stack == noSuchStack {
		return o.noStack(max(entryID, stackID))
	}
	state, why := Runnable, Created
	if c.typ == wire.GoCreateBlocked {
		if o.trace.info.Version < 23 {
			return o.experimental(c)
		}
		state, why = Waiting, WaitCoroutine
	}
	now := o.stamp(c.time)
	k, g := o.newGoroutine(id, state, now)
	g.Why, g.Seen, g.Entry, g.Spawn, g.Left = why, true, entry, stack, stack
	o.next().change(GoCreate, Unknown, state, ReasonNone, why).when(now, now).
		who(k, m.g).where(m.p, c.m-1).stacks(stack, 0)
	c.pos = i
	return taken
}

// goStart: the goroutine is ready, and this is its next sequence number. The thread has a processor
// and runs nothing.
func (o *order) goStart(c *cursor) verdict {
	id, seq, i := uvarint2(c.data, c.pos)
	k := GIndex(o.goids.get(id))
	if k == NoG {
		return notYet
	}
	g := &o.gs[k]
	if g.State != Runnable || g.seq+1 != seq || g.gen != o.turn {
		return notYet
	}
	m := &o.ms[c.m]
	if m.p < 0 || m.g != NoG {
		return o.startFails(m)
	}
	now := o.stamp(c.time)
	o.next().change(GoStart, Runnable, Running, g.Why, ReasonNone).when(now, g.Since).
		who(k, NoG).where(m.p, c.m-1).stacks(0, g.Left)
	g.seq = seq
	g.State, g.Why, g.Since, g.Thread = Running, ReasonNone, now, c.m-1
	m.g = k
	c.pos = i
	return taken
}

func (o *order) startFails(m *thread) verdict {
	if m.p < 0 {
		return o.fail("the thread has no processor")
	}
	return o.fail("goroutine %d already runs on the thread", o.gs[m.g].ID)
}

// leave is the common part of Destroy, Stop and Block: the goroutine on the thread leaves its
// processor. That is always possible because it runs.
func (o *order) leave(c *cursor, m *thread, g *goroutine, kind Kind, to State, why Reason, stack StackID) {
	now := o.stamp(c.time)
	o.next().change(kind, Running, to, ReasonNone, why).when(now, g.Since).
		who(m.g, m.g).where(m.p, c.m-1).stacks(stack, g.Left)
	g.State, g.Why, g.Since, g.Thread, g.Left = to, why, now, -1, stack
	m.g = NoG
}

func (o *order) goDestroy(c *cursor) verdict {
	m, g := o.on(c, Running)
	if g == nil {
		return o.notOn(c, Running)
	}
	k, left := m.g, g.Left
	o.leave(c, m, g, GoDestroy, Gone, ReasonNone, 0)
	g.Left = left
	o.end(k, g, g.Since)
	return taken
}

func (o *order) goBlock(c *cursor) verdict {
	return o.goLeave(c, GoBlock, Waiting)
}

func (o *order) goStop(c *cursor) verdict {
	return o.goLeave(c, GoStop, Runnable)
}

func (o *order) goLeave(c *cursor, kind Kind, to State) verdict {
	wordsID, stackID, i := uvarint2(c.data, c.pos)
	m, g := o.on(c, Running)
	if g == nil {
		return o.notOn(c, Running)
	}
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	word, ok := o.g.reason(wordsID)
	if !ok {
		return o.noWords(wordsID)
	}
	why := reasonWords[word].block
	if to == Runnable {
		why = reasonWords[word].stop
	}
	o.leave(c, m, g, kind, to, why, stack)
	if why == ReasonOther {
		o.note(note{name: wordsID})
	}
	c.pos = i
	return taken
}

// goUnblock: the goroutine waits, and this is its next sequence number. Anything can wake it, even
// a thread without a processor.
func (o *order) goUnblock(c *cursor) verdict {
	id, seq, stackID, i := uvarint3(c.data, c.pos)
	k := GIndex(o.goids.get(id))
	if k == NoG {
		return notYet
	}
	g := &o.gs[k]
	if g.State != Waiting || g.seq+1 != seq || g.gen != o.turn {
		return notYet
	}
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	m := &o.ms[c.m]
	now := o.stamp(c.time)
	o.next().change(GoUnblock, Waiting, Runnable, g.Why, Woken).when(now, g.Since).
		who(k, m.g).where(m.p, c.m-1).stacks(stack, g.Left)
	g.seq = seq
	g.State, g.Why, g.Since = Runnable, Woken, now
	c.pos = i
	return taken
}

// goSwitch: the running goroutine passes its thread to another, which waits and whose next sequence
// number this is. Three things happen at once: the other is woken, this one waits or ends, the
// other runs.
func (o *order) goSwitch(c *cursor) verdict {
	if o.trace.info.Version < 23 {
		return o.experimental(c)
	}
	id, seq, i := uvarint2(c.data, c.pos)
	m, from := o.on(c, Running)
	if from == nil {
		return o.notOn(c, Running)
	}
	k := GIndex(o.goids.get(id))
	if k == NoG {
		return notYet
	}
	g := &o.gs[k]
	if g.State != Waiting || g.seq+1 != seq || g.gen != o.turn {
		return notYet
	}
	old := m.g
	now := o.stamp(c.time)
	o.next().change(GoSwitch, Waiting, Runnable, g.Why, Woken).when(now, g.Since).
		who(k, old).where(m.p, c.m-1).stacks(0, g.Left)
	g.State, g.Why, g.Since = Runnable, Woken, now
	if c.typ == wire.GoSwitchDestroy {
		left := from.Left
		o.leave(c, m, from, GoSwitch, Gone, ReasonNone, 0)
		from.Left = left
		o.end(old, from, from.Since)
	} else {
		o.leave(c, m, from, GoSwitch, Waiting, WaitCoroutine, 0)
	}
	now = o.stamp(c.time)
	o.next().change(GoSwitch, Runnable, Running, Woken, ReasonNone).when(now, g.Since).
		who(k, NoG).where(m.p, c.m-1).stacks(0, g.Left)
	g.seq = seq
	g.State, g.Why, g.Since, g.Thread = Running, ReasonNone, now, c.m-1
	m.g = k
	c.pos = i
	return taken
}

// goStatus is the first event about a goroutine in a generation. It must agree with the known
// state; in the first generation it defines the state. For a goroutine that was in a system call
// during the whole generation it names a thread other than its own.
func (o *order) goStatus(c *cursor) verdict {
	id, threadID, status, i := uvarint3(c.data, c.pos)
	var stack StackID
	if c.typ == wire.GoStatusStack {
		if o.trace.info.Version < 23 {
			return o.experimental(c)
		}
		var stackID uint64
		stackID, i = uvarint(c.data, i)
		if stack = o.g.stacks.get(stackID); stack == noSuchStack {
			return o.noStack(stackID)
		}
	}
	if status < wire.GRunnable || status > wire.GWaiting {
		return o.fail("goroutine %d has status %d, which does not exist", id, status)
	}
	state := State(status)
	k := GIndex(o.goids.get(id))
	switch {
	case k != NoG && o.gs[k].State != state:
		return o.fail("goroutine %d is %v here and was %v", id, state, o.gs[k].State)
	case k == NoG && !o.g.first:
		return o.fail("goroutine %d did not exist in the previous generation and was not created since", id)
	case k == NoG && o.goids.n >= maxGoroutines:
		return o.fail("more than %d goroutines at a time", maxGoroutines)
	}
	e := Event{Kind: GoStatus, From: state, To: state, By: o.ms[c.m].g, P: o.ms[c.m].p, M: c.m - 1, Stack: stack}
	if v := o.bind(c, k, id, threadID, state, &e); v != taken {
		return v
	}
	e.Time = o.stamp(c.time)
	if k == NoG {
		var g *goroutine
		k, g = o.newGoroutine(id, state, o.epoch)
		g.Left = stack
		e.From = Unknown
	}
	g := &o.gs[k]
	g.gen, g.seq = o.turn, 0
	if g.Left == 0 {
		g.Left = stack
	}
	switch {
	case state == Running && c.m > 0:
		g.Thread, o.ms[c.m].g = c.m-1, k
	case state == Syscall:
		m := &o.ms[e.M+1]
		g.Thread, m.g = e.M, k
	}
	e.G, e.Since, e.Was, e.Why, e.Left = k, g.Since, g.Why, g.Why, g.Left
	*o.next() = e
	o.markRare()
	c.pos = i
	return taken
}

// bind finds the thread of a status: the thread on which the goroutine is in a system call.
func (o *order) bind(c *cursor, k GIndex, id, threadID uint64, state State, e *Event) verdict {
	if state != Syscall {
		return taken
	}
	if threadID == wire.NoThread {
		return o.fail("goroutine %d is in a system call without a thread", id)
	}
	m, err := o.thread(threadID)
	switch {
	case err != nil:
		return o.fail("%v", err)
	case m == c.m:
		if !o.g.first && (k == NoG || o.ms[m].g != k) {
			return o.fail("goroutine %d is in a system call on thread %d, which has another", id, threadID)
		}
		return taken
	case o.ms[m].g != NoG && o.ms[m].g != k:
		return o.fail("goroutine %d is in a system call on thread %d, which has another", id, threadID)
	}
	e.M, e.By, e.P = m-1, o.ms[m].g, -1
	return taken
}
