package exectrace

import "github.com/hone-go/hone/exectrace/internal/wire"

// procStates maps the states of processors in a trace to State.
var procStates = [...]State{
	0: Unknown, wire.PRunning: Running, wire.PIdle: Idle, wire.PSyscall: Syscall, wire.PAbandoned: Idle,
}

// proc returns the processor with an id, or nil when it was not seen.
func (o *order) proc(id uint64) *proc {
	if id < uint64(len(o.ps)) {
		if p := &o.ps[id]; p.status != 0 {
			return p
		}
	}
	return nil
}

// procEvent appends a change of a processor.
func (o *order) procEvent(c *cursor, kind Kind, id int32, to State, now int64) {
	p := &o.ps[id]
	from := procStates[p.status]
	o.next().change(kind, from, to, ReasonNone, ReasonNone).when(now, p.since).
		who(NoG, o.ms[c.m].g).where(id, c.m-1).stacks(0, 0)
	if to != from {
		p.since = now
	}
	o.markRare()
}

// procStart: the processor is idle, and this is its next sequence number. The thread has no
// processor; it has a goroutine if that returns from a system call.
func (o *order) procStart(c *cursor) verdict {
	id, seq, i := uvarint2(c.data, c.pos)
	p := o.proc(id)
	m := &o.ms[c.m]
	if p == nil || p.status != wire.PIdle || p.gen != o.turn || p.seq+1 != seq || m.p >= 0 {
		return notYet
	}
	if c.m == 0 {
		return o.fail("no thread")
	}
	o.procEvent(c, ProcStart, int32(id), Running, o.stamp(c.time))
	p.status, p.seq, p.m = wire.PRunning, seq, c.m
	m.p = int32(id)
	c.pos = i
	return taken
}

// procStop: the thread that started the processor stops it, which is always possible.
func (o *order) procStop(c *cursor) verdict {
	m := &o.ms[c.m]
	if m.p < 0 {
		return o.fail("the thread has no processor")
	}
	p := &o.ps[m.p]
	if p.status != wire.PRunning && p.status != wire.PSyscall {
		return o.fail("processor %d is %v", m.p, procStates[p.status])
	}
	o.procEvent(c, ProcStop, m.p, Idle, o.stamp(c.time))
	p.status, p.m = wire.PIdle, 0
	m.p = -1
	return taken
}

// procSteal: the processor is in a system call, and this is its next sequence number. Its thread
// loses it, and can return from the call only after this. If that thread is no longer known
// (PAbandoned), it may be doing something else, and its state is not changed.
func (o *order) procSteal(c *cursor) verdict {
	id, seq, threadID, i := uvarint3(c.data, c.pos)
	p := o.proc(id)
	if p == nil || (p.status != wire.PSyscall && p.status != wire.PAbandoned) || p.gen != o.turn || p.seq+1 != seq {
		return notYet
	}
	if c.m == 0 {
		return o.fail("no thread")
	}
	if p.status == wire.PSyscall {
		from, ok := o.mids[threadID]
		if !ok {
			return o.fail("processor %d is taken from thread %d, which does not exist", id, threadID)
		}
		if o.ms[from].p != int32(id) {
			return o.fail("processor %d is taken from thread %d, which has %d", id, threadID, o.ms[from].p)
		}
		o.procEvent(c, ProcSteal, int32(id), Idle, o.stamp(c.time))
		o.ms[from].p = -1
	} else {
		o.procEvent(c, ProcSteal, int32(id), Idle, o.stamp(c.time))
	}
	p.status, p.seq, p.m = wire.PIdle, seq, 0
	c.pos = i
	return taken
}

// procStatus is the first event about a processor in a generation. It must agree with the known
// state. A processor that is new after the first generation results from a larger GOMAXPROCS.
func (o *order) procStatus(c *cursor) verdict {
	id, status, i := uvarint2(c.data, c.pos)
	if status < wire.PRunning || status > wire.PAbandoned {
		return o.fail("processor %d has status %d, which does not exist", id, status)
	}
	if id >= maxProcs {
		return o.fail("processor %d; the largest allowed is %d", id, maxProcs-1)
	}
	p := o.proc(id)
	e := Event{Kind: ProcStatus, G: NoG, By: o.ms[c.m].g, P: int32(id), M: c.m - 1}
	if p == nil {
		p = o.newProc(id)
		p.status = uint8(status)
		e.From = Unknown
	} else {
		known := p.status
		switch {
		case status == wire.PAbandoned && known == wire.PSyscall:
			// Its thread is known: it is still in the system call there.
			if p.m == 0 || o.ms[p.m].p != int32(id) {
				return o.fail("processor %d is about to be taken from an unknown thread", id)
			}
			status = wire.PSyscall
			e.M, e.By = p.m-1, o.ms[p.m].g
		case uint64(known) != status:
			return o.fail("processor %d is %v here and was %v", id, procStates[status], procStates[known])
		}
		e.From = procStates[known]
	}
	now := o.stamp(c.time)
	if e.From == Unknown && !o.g.first {
		p.since = now
	}
	p.gen, p.seq = o.turn, 0
	e.Time, e.Since, e.To = now, p.since, procStates[status]
	if status == wire.PRunning || status == wire.PSyscall && e.M == c.m-1 {
		if c.m > 0 {
			o.ms[c.m].p, p.m = int32(id), c.m
		}
	}
	*o.next() = e
	o.markRare()
	c.pos = i
	return taken
}

func (o *order) newProc(id uint64) *proc {
	for uint64(len(o.ps)) <= id {
		o.ps = append(o.ps, proc{sweep: notBegun, since: o.epoch})
	}
	if n := int(id) + 1; n > o.trace.info.Procs {
		o.trace.info.Procs = n
	}
	return &o.ps[id]
}

func (o *order) procsChange(c *cursor) verdict {
	n, stackID, i := uvarint2(c.data, c.pos)
	m, g := o.user(c)
	if g == nil {
		return o.notUser(c)
	}
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	*o.next() = Event{
		Time: o.stamp(c.time), Kind: ProcsChange, Value: n,
		G: m.g, By: m.g, P: m.p, M: c.m - 1, Stack: stack,
	}
	o.markRare()
	if n <= maxProcs && int(n) > o.trace.info.Procs {
		o.trace.info.Procs = int(n)
	}
	c.pos = i
	return taken
}

// goSyscallBegin: the goroutine runs. Its processor stays with the thread, but may be taken from
// now on. The sequence number is the processor's: ProcSteal refers to this call by it.
func (o *order) goSyscallBegin(c *cursor) verdict {
	seq, stackID, i := uvarint2(c.data, c.pos)
	m, g := o.on(c, Running)
	if g == nil {
		return o.notOn(c, Running)
	}
	p := &o.ps[m.p]
	if p.gen != o.turn || p.seq+1 != seq {
		return o.fail("it has sequence number %d of processor %d, whose last one was %d", seq, m.p, p.seq)
	}
	stack := o.g.stacks.get(stackID)
	if stack == noSuchStack {
		return o.noStack(stackID)
	}
	now := o.stamp(c.time)
	o.next().change(GoSyscallBegin, Running, Syscall, ReasonNone, ReasonNone).when(now, g.Since).
		who(m.g, m.g).where(m.p, c.m-1).stacks(stack, g.Left)
	g.State, g.Since, g.Left = Syscall, now, stack
	p.status, p.seq, p.since = wire.PSyscall, seq, now
	c.pos = i
	return taken
}

// goSyscallEnd: the processor was not taken during the call.
func (o *order) goSyscallEnd(c *cursor) verdict {
	m, g := o.on(c, Syscall)
	if g == nil {
		return o.notOn(c, Syscall)
	}
	p := &o.ps[m.p]
	if p.status != wire.PSyscall {
		return o.fail("processor %d is %v, not in a system call", m.p, procStates[p.status])
	}
	now := o.stamp(c.time)
	p.status, p.since = wire.PRunning, now
	o.next().change(GoSyscallEnd, Syscall, Running, ReasonNone, ReasonNone).when(now, g.Since).
		who(m.g, m.g).where(m.p, c.m-1).stacks(0, g.Left)
	g.State, g.Since = Running, now
	return taken
}

// goSyscallEndBlocked: the thread has lost the processor of the call, or stopped it. It may have
// another one now. While it still has one in a system call, a ProcSteal must come first.
func (o *order) goSyscallEndBlocked(c *cursor) verdict {
	m := &o.ms[c.m]
	if m.p >= 0 && o.ps[m.p].status == wire.PSyscall {
		return notYet
	}
	g, v := o.inSyscall(c)
	if v != taken {
		return v
	}
	now := o.stamp(c.time)
	o.next().change(GoSyscallEndLost, Syscall, Runnable, ReasonNone, SyscallLost).when(now, g.Since).
		who(m.g, m.g).where(m.p, c.m-1).stacks(0, g.Left)
	g.State, g.Why, g.Since, g.Thread = Runnable, SyscallLost, now, -1
	m.g = NoG
	return taken
}

// inSyscall returns the goroutine that is in a system call on the thread, with or without a
// processor.
func (o *order) inSyscall(c *cursor) (*goroutine, verdict) {
	m := &o.ms[c.m]
	if m.g == NoG {
		return nil, o.fail("no goroutine is on the thread")
	}
	g := &o.gs[m.g]
	if g.State != Syscall || g.Thread != c.m-1 {
		return nil, o.fail("goroutine %d is %v, not in a system call on this thread", g.ID, g.State)
	}
	return g, taken
}

// goCreateSyscall: a thread of C calls into Go, which creates a goroutine for it, as if it returned
// from a system call.
func (o *order) goCreateSyscall(c *cursor) verdict {
	id, i := uvarint(c.data, c.pos)
	m := &o.ms[c.m]
	switch {
	case c.m == 0:
		return o.fail("no thread")
	case m.g != NoG:
		return o.fail("goroutine %d is already on the thread", o.gs[m.g].ID)
	case o.goids.get(id) != none:
		return o.fail("goroutine %d already exists", id)
	case o.goids.n >= maxGoroutines:
		return o.fail("more than %d goroutines at a time", maxGoroutines)
	}
	now := o.stamp(c.time)
	k, g := o.newGoroutine(id, Syscall, now)
	g.Seen, g.Thread = true, c.m-1
	*o.next() = Event{
		Time: now, Since: now, Kind: GoCreateSyscall, From: Unknown, To: Syscall,
		G: k, By: NoG, P: m.p, M: c.m - 1,
	}
	m.g = k
	c.pos = i
	return taken
}

// goDestroySyscall: the thread returns to C for good. The operating system may give its ID to
// another thread, so its processor counts as lost as well; a later event says who takes it.
func (o *order) goDestroySyscall(c *cursor) verdict {
	g, v := o.inSyscall(c)
	if v != taken {
		return v
	}
	m := &o.ms[c.m]
	e := Event{Kind: GoDestroySyscall, From: Syscall, To: Gone, G: m.g, By: m.g, P: m.p, M: c.m - 1, Since: g.Since, Left: g.Left}
	if m.p >= 0 {
		p := &o.ps[m.p]
		if p.status != wire.PSyscall {
			return o.fail("processor %d is %v, not in a system call", m.p, procStates[p.status])
		}
		o.procEvent(c, ProcSteal, m.p, Idle, o.stamp(c.time))
		p.status, p.m = wire.PAbandoned, 0
		m.p = -1
	}
	e.Time = o.stamp(c.time)
	*o.next() = e
	o.end(m.g, g, e.Time)
	m.g = NoG
	return taken
}
