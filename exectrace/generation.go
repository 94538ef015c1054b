package exectrace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// generation is one generation of a trace: about a second, with its own tables. Its memory is
// reused for a later one.
type generation struct {
	num     uint64
	first   bool    // nothing came before it, or the generations before it are lost
	memory  memory  // contains the payloads of its batches
	batches []batch // the batches with events
	threads []threadBatches
	tables  []batch // strings, stacks, CPU samples, clock; in the order of the trace
	began   uint64  // clock reading of the earliest batch
	any     bool    // a batch has been read
	start   int64   // offset of its first batch in the trace
	from    int64   // offset of its first payload in the trace
	end     int64   // offset of its end in the trace

	clock   clock
	strings stringTable
	stacks  stackMap
	samples []sample
	known   stacks // stacks of the whole trace up to this generation

	heads map[uint64]int32 // thread → index into threads
}

// threadBatches is the batches of one thread, in order.
type threadBatches struct {
	thread      uint64
	first, last int32
}

// Limits on the memory that the tables of one generation may use.
const (
	maxTables  = 128 << 20 // bytes of strings and stacks
	maxSamples = 4 << 20   // 100 per second and thread are usual
)

// sample is a CPU sample.
type sample struct {
	time               int64
	thread, proc, goid uint64
	stack              uint64
}

func (g *generation) reset() {
	clear(g.heads)
	*g = generation{
		memory: g.memory, batches: g.batches[:0], threads: g.threads[:0], tables: g.tables[:0], samples: g.samples[:0],
		strings: g.strings.emptied(), stacks: g.stacks.emptied(), heads: g.heads,
	}
	if g.heads == nil {
		g.heads = map[uint64]int32{}
	}
}

// add adds a batch whose payload is the last in memory.
func (g *generation) add(version int, h batchHeader, place uint32, file int64) {
	if g.began == 0 || h.time < g.began {
		g.began = h.time
	}
	if !g.any {
		g.any, g.from = true, file
	}
	b := batch{
		thread: h.thread, time: h.time, file: file,
		at: place, size: uint32(h.size), next: -1,
	}
	switch {
	case h.experiment || h.size == 0:
		g.memory.back(int(h.size))
	case isTable(version, g.kind(b)):
		g.tables = append(g.tables, b)
	default:
		g.batches = append(g.batches, b)
		g.link(h.thread, int32(len(g.batches)-1))
	}
}

// kind returns the first byte of a batch.
func (g *generation) kind(b batch) wire.Type { return wire.Type(g.memory.bytes(b.at, 1)[0]) }

func isTable(version int, t wire.Type) bool {
	switch t {
	case wire.Strings, wire.Stacks, wire.CPUSamples:
		return true
	case wire.Frequency:
		return version < 25
	case wire.Sync:
		return version >= 25
	}
	return false
}

func (g *generation) link(thread uint64, b int32) {
	i, ok := g.heads[thread]
	if !ok {
		g.heads[thread] = int32(len(g.threads))
		g.threads = append(g.threads, threadBatches{thread, b, b})
		return
	}
	t := &g.threads[i]
	g.batches[t.last].next = b
	t.last = b
}

// parse reads the tables after all batches were added.
func (g *generation) parse(version int, all *internTable) error {
	var strings, stackBytes int
	for _, b := range g.tables {
		switch g.kind(b) {
		case wire.Strings:
			strings += int(b.size)
		case wire.Stacks:
			stackBytes += int(b.size)
		}
	}
	if strings+stackBytes > maxTables {
		return at(g.end, fmt.Errorf("tables of %d MiB; the limit is %d MiB", (strings+stackBytes)>>20, maxTables>>20))
	}
	g.strings.limit, g.stacks.limit = tableLimit(strings), tableLimit(stackBytes)
	g.strings.reserve(strings)
	for _, kind := range []wire.Type{wire.Frequency, wire.Sync, wire.Strings, wire.Stacks, wire.CPUSamples} {
		for _, b := range g.tables {
			if g.kind(b) != kind {
				continue
			}
			if err := g.table(kind, b, all); err != nil {
				return at(b.file, fmt.Errorf("%v: %w", kind, err))
			}
		}
	}
	switch {
	case g.clock.unit == 0:
		return at(g.end, errors.New("the clock frequency is missing"))
	case version >= 25 && !g.clock.hasWall:
		return at(g.end, errors.New("the clock snapshot is missing"))
	}
	for i := range g.samples {
		g.samples[i].time = g.clock.base(uint64(g.samples[i].time))
	}
	slices.SortFunc(g.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	g.known = all.stacks
	return nil
}

func (g *generation) table(kind wire.Type, b batch, all *internTable) error {
	piece, i := g.memory.piece(b.at)
	d := decoder{d: piece, i: i, end: i + int(b.size), base: b.at - uint32(i)}
	if kind != wire.Frequency {
		d.i++ // skip the kind; a frequency on its own has none
	}
	for d.i < d.end {
		var err error
		switch kind {
		case wire.Frequency, wire.Sync:
			err = g.clock.read(&d, b.time)
		case wire.Strings:
			err = g.strings.read(&d)
		case wire.Stacks:
			err = g.stacks.read(&d, g, all)
		case wire.CPUSamples:
			err = g.sample(&d)
		}
		if err == nil && d.i > d.end {
			err = errors.New("its last entry is truncated")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *generation) sample(d *decoder) error {
	if err := d.want(wire.CPUSample); err != nil {
		return err
	}
	if len(g.samples) >= maxSamples {
		return fmt.Errorf("more than %d CPU samples", maxSamples)
	}
	var s sample
	s.time = int64(min(d.uvarint(), maxTime))
	s.thread, s.proc, s.goid, s.stack = d.uvarint(), d.uvarint(), d.uvarint(), d.uvarint()
	g.samples = append(g.samples, s)
	return nil
}

// decoder reads a table. Reading beyond its end yields zeros; its caller detects that.
type decoder struct {
	d      []byte
	i, end int
	base   uint32 // index of d[0] in the memory of the generation
}

func (d *decoder) uvarint() (v uint64) {
	if d.i >= d.end {
		d.i = d.end + 1
		return 0
	}
	v, d.i = uvarint(d.d, d.i)
	return v
}

// want reads the type of an entry.
func (d *decoder) want(t wire.Type) error {
	got := wire.Type(d.d[d.i])
	d.i++
	if got != t {
		return fmt.Errorf("found %v, expected %v", got, t)
	}
	return nil
}

// tableLimit returns the largest id that is stored in a slice, for ids from a table of that many
// bytes: an entry has at least three bytes, and the tracer counts ids from one.
func tableLimit(bytes int) uint64 { return uint64(bytes/2 + 1024) }

// clock converts the tracer's clock to nanoseconds.
//
// It converts as golang.org/x/exp/trace does, in floating point: a time is the converted time of
// its batch plus the converted differences, each truncated to whole nanoseconds.
type clock struct {
	unit    float64 // nanoseconds per unit
	whole   int64   // unit, if it is a whole number
	exact   uint64  // differences below it are units times whole, in nanoseconds
	hasWall bool
	wall    time.Time
	wallAt  uint64 // in units
}

// maxTime bounds times, in nanoseconds, so that sums of them never overflow.
const maxTime = 1 << 60

func (c *clock) read(d *decoder, base uint64) error {
	switch t := wire.Type(d.d[d.i]); {
	case t == wire.Frequency:
		d.i++
		if c.unit != 0 {
			return errors.New("two clock frequencies")
		}
		perSecond := d.uvarint()
		if perSecond == 0 || perSecond > 1<<40 {
			return fmt.Errorf("a clock of %d units per second", perSecond)
		}
		c.unit = 1 / (float64(perSecond) / 1e9)
		if whole := int64(c.unit); float64(whole) == c.unit && whole <= 1<<16 {
			c.whole, c.exact = whole, 1<<40
		}
	case t == wire.ClockSnapshot:
		d.i++
		if c.hasWall {
			return errors.New("two clock snapshots")
		}
		c.hasWall = true
		c.wallAt = base + d.uvarint()
		d.uvarint() // monotonic clock
		sec, nsec := d.uvarint(), d.uvarint()
		c.wall = time.Unix(int64(min(sec, 1<<40)), int64(min(nsec, 1e9)))
	default:
		return fmt.Errorf("found %v, expected a clock frequency or snapshot", t)
	}
	return nil
}

// base converts the time of a batch or a sample. Times out of range become maxTime.
func (c *clock) base(t uint64) int64 {
	if t < c.exact {
		return int64(t) * c.whole
	}
	if v := float64(t) * c.unit; v < maxTime {
		return int64(v)
	}
	return maxTime
}

// atOffset is an error and its offset in the trace.
type atOffset struct {
	file int64
	err  error
}

func (e *atOffset) Error() string { return e.err.Error() }
func (e *atOffset) Unwrap() error { return e.err }

func at(file int64, err error) error { return &atOffset{file, err} }
