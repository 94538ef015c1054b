package exectrace

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// blockSize is the number of events that folds get at a time: 128 KiB, which fit in L2. Smaller
// blocks would fit in L1, but then the branch predictor is retrained for each fold so often that
// all folds together take a tenth longer (measured with 64 to 4096 events).
const blockSize = 2048

// mostPerEvent is the largest number of events that one event of the trace becomes.
const mostPerEvent = 4

// order merges the events of the threads into one order and tracks the state of goroutines,
// processors and threads.
//
// The events of one thread are in order. The clocks of different threads are not trusted. Instead,
// the tracer numbers events: an event that takes up a goroutine or a processor has a sequence
// number, counted for that goroutine or processor from the start of the generation. It may come
// only after the event with the previous number. The earliest event is tried first; if it may not
// come yet, the next earliest is tried. The rules are those of Go's internal/trace (order.go); each
// is beside its event, in order_go.go, order_proc.go and order_range.go.
type order struct {
	trace *Trace
	g     *generation // the one being ordered
	turn  uint32      // counts generations

	gs    []goroutine // by GIndex
	goids idTable     // ID → GIndex
	free  []GIndex
	gone  []GIndex // ended in this block; their slots become free after it
	ps    []proc
	ms    []thread // ms[0] is for batches without a thread
	mids  map[uint64]int32
	tasks tasks
	stops map[GIndex]stop
	cycle cycle
	marks regionPool

	cursors []cursor
	front   frontier

	start int64 // of the trace: time of its first event on the trace's clock
	epoch int64 // start of the first generation, or of the first after a gap; since start
	last  int64 // time of the last event, on the trace's clock

	events [blockSize]Event
	n      int
	rare   []int32
	notes  []note
	failed error // why the last event was impossible
}

// goroutine is a Goroutine and what ordering needs: 64 bytes, one cache line, because most events
// touch a different goroutine than the event before.
type goroutine struct {
	seq     uint64 // its last sequence number in this generation
	assist  int64  // start of its mark assist, or notBegun
	gen     uint32 // order.turn when it was last mentioned
	regions int32  // its innermost region, an index in order.marks; -1 none
	Goroutine
}

// stop is a goroutine's stop of the world.
type stop struct {
	since int64
	why   uint32 // index in trace.labels
}

const notBegun = -1

// proc is a processor.
type proc struct {
	seq    uint64
	since  int64
	gen    uint32
	m      int32 // its thread, an index in order.ms; 0 none
	sweep  int64 // start of its sweep, or notBegun
	status uint8 // wire.PRunning ...; 0: not seen yet
}

// thread is what runs on a thread.
type thread struct {
	g GIndex
	p int32
}

// Limits on memory, against malicious traces.
const (
	maxGoroutines = 1 << 22 // alive at a time
	maxProcs      = 1 << 16
	maxThreads    = 1 << 20
)

func newOrder(t *Trace) *order {
	o := &order{trace: t, goids: newIDTable(), mids: map[uint64]int32{}, stops: map[GIndex]stop{}, rare: make([]int32, 0, blockSize)}
	o.tasks.ids = newIDTable()
	o.forget()
	return o
}

// forget drops the state of all goroutines, processors and threads, but keeps the indices of
// threads.
func (o *order) forget() {
	o.gs, o.free, o.gone, o.ps = o.gs[:0], o.free[:0], o.gone[:0], o.ps[:0]
	o.goids.clear()
	if len(o.ms) == 0 {
		o.ms = append(o.ms, thread{})
	}
	for i := range o.ms {
		o.ms[i] = thread{NoG, -1}
	}
	o.tasks.forget()
	clear(o.stops)
	o.marks.forget()
	o.cycle = cycle{}
}

// verdict is the result of a rule.
type verdict uint8

const (
	taken  verdict = iota
	notYet         // an event of another thread must come first
	impossible
)

// stamp returns the time of the next event, since start: at least 1 ns after the last.
func (o *order) stamp(t int64) int64 {
	if t <= o.last {
		t = o.last + 1
	}
	o.last = t
	return t - o.start
}

// stampAt is stamp for the very first event, which defines start.
func (o *order) stampAt(t int64) int64 {
	o.stamp(t)
	return o.last
}

// event appends an event of the trace itself.
func (o *order) event(kind Kind, t int64, value uint64) int64 {
	now := o.stamp(t)
	*o.next() = Event{Time: now, Since: now, Kind: kind, Value: value, G: NoG, By: NoG, P: -1, M: -1}
	o.markRare()
	return now
}

// next returns the next free event of the block.
func (o *order) next() *Event {
	e := &o.events[o.n&(blockSize-1)]
	o.n++
	return e
}

// markRare records that the last event is not one of the frequent changes of goroutines.
func (o *order) markRare() { o.rare = append(o.rare, int32(o.n-1)) }

// fail records why an event is impossible.
func (o *order) fail(format string, args ...any) verdict {
	o.failed = fmt.Errorf(format, args...)
	return impossible
}

// begin positions a cursor at the first event of each thread of a generation.
func (o *order) begin(g *generation) error {
	o.g = g
	o.turn++
	o.front = o.front[:0]
	if cap(o.cursors) < len(g.threads) {
		o.cursors = make([]cursor, len(g.threads))
	}
	o.cursors = o.cursors[:len(g.threads)]
	for i, t := range g.threads {
		m, err := o.thread(t.thread)
		if err != nil {
			return at(g.batches[t.first].file, err)
		}
		c := &o.cursors[i]
		*c = cursor{m: m, next: t.first, now: -1}
		switch c.advance(g) {
		case atEvent:
			o.front.push(c)
		case atNonsense:
			return at(c.file(g), c.wrong())
		}
	}
	return nil
}

// thread returns the index of a thread in ms.
func (o *order) thread(id uint64) (int32, error) {
	if id == wire.NoThread {
		return 0, nil
	}
	if m, ok := o.mids[id]; ok {
		return m, nil
	}
	if len(o.ms) > maxThreads {
		return 0, fmt.Errorf("more than %d threads", maxThreads)
	}
	m := int32(len(o.ms))
	o.ms = append(o.ms, thread{NoG, -1})
	o.mids[id] = m
	o.trace.threads = append(o.trace.threads, id)
	return m, nil
}

// run orders the events of the generation. It calls flush whenever a block is full. A CPU sample
// comes before the first event that is later.
func (o *order) run(flush func() error) error {
	samples := o.g.samples
	for len(o.front) > 0 || len(samples) > 0 {
		if o.n > blockSize-mostPerEvent {
			if err := flush(); err != nil {
				return err
			}
		}
		until := int64(math.MaxInt64)
		if len(samples) > 0 {
			until = samples[0].time
		}
		if len(o.front) == 0 || until < o.front[0].time {
			if err := o.sample(&samples[0]); err != nil {
				return err
			}
			samples = samples[1:]
			continue
		}
		if err := o.follow(until, flush); err != nil {
			return err
		}
	}
	return nil
}

// follow takes events of the first thread, then of the next thread that is first, until none is at
// or before until. Usually a thread has several events in a row, which cost no work on the heap.
func (o *order) follow(until int64, flush func() error) error {
	whole := o.g.clock.whole
	until = min(until, maxTime-1)
	for f := o.front; f[0].time <= until; {
		c := f[0].c
		others := until
		if len(f) > 2 {
			others = min(until, f[1].time, f[2].time)
		} else if len(f) > 1 {
			others = min(until, f[1].time)
		}
		for {
			if v := rules[c.typ](o, c); v != taken {
				if v == impossible {
					return o.broken(c)
				}
				f[0].time = c.time
				return o.others()
			}
			if !c.head(whole) {
				switch c.late(o.g) {
				case atEnd:
					o.front.remove(0)
					return nil
				case atNonsense:
					return at(c.file(o.g), c.wrong())
				}
			}
			if o.n > blockSize-mostPerEvent {
				if err := flush(); err != nil {
					return err
				}
			}
			if c.time > others {
				break
			}
		}
		if c.time >= maxTime {
			return at(c.file(o.g), c.wrong())
		}
		f[0].time = c.time
		f.down(0)
	}
	return nil
}

// others tries the next events of the other threads, in order of time, because the first event must
// wait.
func (o *order) others() error {
	o.front.sort()
	for i := 1; i < len(o.front); i++ {
		c := o.front[i].c
		switch rules[c.typ](o, c) {
		case taken:
			return o.step(i)
		case impossible:
			return o.broken(c)
		}
	}
	c := o.front[0].c
	return at(c.file(o.g), fmt.Errorf("no event can come next: %d threads wait, the first (thread %d) at %v", len(o.front), o.threadID(c.m), c.typ))
}

// step advances the cursor at i to its next event.
func (o *order) step(i int) error {
	c := o.front[i].c
	switch c.advance(o.g) {
	case atEvent:
		o.front[i].time = c.time
		o.front.moved(i)
	case atEnd:
		o.front.remove(i)
	case atNonsense:
		return at(c.file(o.g), c.wrong())
	}
	return nil
}

func (o *order) broken(c *cursor) error {
	return at(c.file(o.g), fmt.Errorf("%v on thread %d: %w", c.typ, o.threadID(c.m), o.failed))
}

func (o *order) threadID(m int32) int64 {
	if m == 0 {
		return -1
	}
	return int64(o.trace.threads[m-1])
}

// rule takes the event at a cursor if it may come next.
type rule func(*order, *cursor) verdict

// rules holds the rule of each type of event.
var rules = ruleTable([256]rule{
	wire.GoStart:             (*order).goStart,
	wire.GoUnblock:           (*order).goUnblock,
	wire.GoBlock:             (*order).goBlock,
	wire.GoStop:              (*order).goStop,
	wire.GoSyscallBegin:      (*order).goSyscallBegin,
	wire.GoSyscallEnd:        (*order).goSyscallEnd,
	wire.GoSyscallEndBlocked: (*order).goSyscallEndBlocked,
	wire.GoCreate:            (*order).goCreate,
	wire.GoCreateBlocked:     (*order).goCreate,
	wire.GoDestroy:           (*order).goDestroy,
	wire.GoStatus:            (*order).goStatus,
	wire.GoStatusStack:       (*order).goStatus,
	wire.GoSwitch:            (*order).goSwitch,
	wire.GoSwitchDestroy:     (*order).goSwitch,
	wire.GoCreateSyscall:     (*order).goCreateSyscall,
	wire.GoDestroySyscall:    (*order).goDestroySyscall,
	wire.ProcStart:           (*order).procStart,
	wire.ProcStop:            (*order).procStop,
	wire.ProcSteal:           (*order).procSteal,
	wire.ProcStatus:          (*order).procStatus,
	wire.ProcsChange:         (*order).procsChange,
	wire.HeapAlloc:           (*order).heap,
	wire.HeapGoal:            (*order).heap,
	wire.STWBegin:            (*order).goRange,
	wire.STWEnd:              (*order).goRange,
	wire.GCMarkAssistBegin:   (*order).goRange,
	wire.GCMarkAssistActive:  (*order).goRange,
	wire.GCMarkAssistEnd:     (*order).goRange,
	wire.GCSweepBegin:        (*order).sweep,
	wire.GCSweepActive:       (*order).sweep,
	wire.GCSweepEnd:          (*order).sweep,
	wire.GCBegin:             (*order).gc,
	wire.GCActive:            (*order).gc,
	wire.GCEnd:               (*order).gc,
	wire.GoLabel:             (*order).annotation,
	wire.UserTaskBegin:       (*order).annotation,
	wire.UserTaskEnd:         (*order).annotation,
	wire.UserRegionBegin:     (*order).annotation,
	wire.UserRegionEnd:       (*order).annotation,
	wire.UserLog:             (*order).annotation,
})

// ruleTable sets the rule of all other types to the one for experiments.
func ruleTable(table [256]rule) [256]rule {
	for t := range table {
		if table[t] == nil {
			table[t] = (*order).experimental
		}
	}
	return table
}

// experimental skips events of experiments.
func (o *order) experimental(c *cursor) verdict {
	if c.cut != noEvent {
		c.typ = c.cut
		return o.fail("it is truncated by the end of its batch")
	}
	if s := &wire.Specs[c.typ]; !s.Timed || o.trace.info.Version < s.Since {
		return o.fail("threads of Go 1.%d write no such event", o.trace.info.Version)
	}
	if c.m == 0 {
		return o.fail("no thread")
	}
	i := c.pos
	for range wire.Specs[c.typ].Args {
		_, i = uvarint(c.data, i)
	}
	c.pos = i
	o.stamp(c.time)
	return taken
}
