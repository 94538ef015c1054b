package exectrace

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// Written says what Cut and Anonymize wrote.
type Written struct {
	Generations int
	Bytes       int64
	Skipped     int // generations that were left out
	// From and To are the times at which the written part starts and ends, counted from the start
	// of the trace that was read. Whole generations are written, so the range is longer than the
	// requested one.
	From, To time.Duration
}

// Cut copies the generations of r between two times, counted from the trace's start, to w, as a
// trace that every tool reads. A to of 0 is the trace's end. A generation is about a second long.
// It is copied unchanged, except for batches of experiments, which are left out.
//
// It is an error if no generation is in that range; nothing is written then. Of a trace that is cut
// off or broken, Cut copies the generations before the damage and returns an error of type *Broken.
func Cut(ctx context.Context, w io.Writer, r io.Reader, from, to time.Duration, opt Options) (Written, error) {
	if from < 0 || to < 0 || to != 0 && to <= from {
		return Written{}, fmt.Errorf("cut a trace from %s to %s: the end must be after the start, and neither negative", from, to)
	}
	c := rewriter{keep: func(start, end time.Duration) bool { return end > from && (to == 0 || start < to) }}
	out, err := c.rewrite(ctx, w, r, opt)
	if err == nil && out.Generations == 0 {
		err = fmt.Errorf("cut a trace from %s: it ends at %s", from, c.end)
	}
	return out, err
}

// raw is a generation as bytes.
type raw struct {
	num     uint64
	batches []rawBatch
	data    []byte
	began   uint64 // clock units
	freq    uint64
	ended   bool
}

type rawBatch struct {
	thread, time uint64
	at, size     int
}

func (g *raw) payload(b rawBatch) []byte { return g.data[b.at : b.at+b.size] }

// rewriter copies generations. It writes a generation only after the next one started, because a
// generation ends where the next starts.
type rewriter struct {
	keep   func(start, end time.Duration) bool // nil: all
	change func(*raw)                          // changes a generation before it is written; nil: nothing

	in     *input
	w      *bufio.Writer
	first  uint64 // clock units: the trace's start
	before *raw
	end    time.Duration // of the last generation that write was called for
	out    Written
}

// rewrite copies the generations of r that are to be kept. It writes nothing if there are none.
func (c *rewriter) rewrite(ctx context.Context, w io.Writer, r io.Reader, opt Options) (Written, error) {
	in, err := openInput(r, opt)
	if err != nil {
		return Written{}, err
	}
	defer in.close()
	c.in, c.w = in, bufio.NewWriterSize(w, 256<<10)
	if _, err := c.w.Write(wire.Header(in.version)); err != nil {
		return c.out, err
	}
	c.out.Bytes = wire.HeaderSize
	broken := c.generations(ctx, opt)
	if ctx.Err() != nil {
		return c.out, ctx.Err()
	}
	if c.before != nil {
		if err := c.write(c.before, c.before.lastEvent(c.in.version)+1); err != nil {
			return c.out, err
		}
	}
	if c.out.Generations == 0 {
		return Written{Skipped: c.out.Skipped}, broken
	}
	if err := c.w.Flush(); err != nil {
		return c.out, err
	}
	return c.out, broken
}

// generations reads all generations. If the trace is damaged, the error is a *Broken.
func (c *rewriter) generations(ctx context.Context, opt Options) error {
	g := &raw{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := c.in.off
		h, err := c.in.next()
		switch {
		case err == errEnd:
			return c.last(g, begin)
		case err != nil:
			return &Broken{Offset: begin, Generation: g.num, Err: err}
		case h.end:
			g.ended = true
			continue
		}
		if g.num != 0 && h.gen != g.num {
			if c.in.version >= wire.Specs[wire.EndOfGeneration].Since && !g.ended {
				return &Broken{Offset: begin, Generation: g.num, Err: fmt.Errorf("generation %d begins before generation %d has ended", h.gen, g.num)}
			}
			if err := c.done(g); err != nil {
				return &Broken{Offset: begin, Generation: g.num, Err: err}
			}
			if opt.Progress != nil {
				opt.Progress(begin)
			}
			g = &raw{}
		}
		g.num = h.gen
		at := len(g.data)
		if at+int(h.size) > maxGeneration {
			return &Broken{Offset: begin, Generation: g.num, Err: fmt.Errorf("a generation of more than %d MiB", maxGeneration>>20)}
		}
		g.data = append(g.data, make([]byte, h.size)...)
		if err := c.in.payload(g.data[at:]); err != nil {
			return &Broken{Offset: begin, Generation: g.num, Err: err}
		}
		if h.experiment {
			g.data = g.data[:at]
			continue
		}
		g.add(rawBatch{h.thread, h.time, at, int(h.size)})
	}
}

// lastEvent returns the clock reading of the generation's last event.
func (g *raw) lastEvent(version int) uint64 {
	last := g.began
	for _, b := range g.batches {
		at := b.time
		for p := g.payload(b); len(p) > 0; {
			spec := wire.Specs[p[0]]
			if !spec.Timed || spec.Since > version {
				break
			}
			p = p[1:]
			for i := range 1 + len(spec.Args) {
				v, n := binary.Uvarint(p)
				if n <= 0 {
					p = nil
					break
				}
				p = p[n:]
				if i == 0 && v < 1<<62 {
					at += v
				}
			}
		}
		last = max(last, at)
	}
	return last
}

func (g *raw) add(b rawBatch) {
	if len(g.batches) == 0 || b.time < g.began {
		g.began = b.time
	}
	g.batches = append(g.batches, b)
	p := g.payload(b)
	if len(p) > 0 && wire.Type(p[0]) == wire.Sync {
		p = p[1:]
	}
	if len(p) > 1 && wire.Type(p[0]) == wire.Frequency {
		if freq, n := binary.Uvarint(p[1:]); n > 0 {
			g.freq = freq
		}
	}
}

// last takes the last generation of the trace, which ends at an offset.
func (c *rewriter) last(g *raw, at int64) error {
	if g.num == 0 {
		return nil
	}
	if c.in.version >= wire.Specs[wire.EndOfGeneration].Since && !g.ended {
		return &Broken{Offset: at, Generation: g.num, Err: fmt.Errorf("the trace ends within generation %d", g.num)}
	}
	if err := c.done(g); err != nil {
		return &Broken{Offset: at, Generation: g.num, Err: err}
	}
	return nil
}

// done takes a complete generation, and writes the previous one.
func (c *rewriter) done(g *raw) error {
	if g.freq == 0 {
		return fmt.Errorf("generation %d has no clock frequency", g.num)
	}
	if c.before == nil {
		c.first = g.began
	} else if err := c.write(c.before, g.began); err != nil {
		return err
	}
	c.before = g
	return nil
}

// since converts a clock reading to the time since the trace's start.
func (c *rewriter) since(clock, freq uint64) time.Duration {
	if clock < c.first {
		return 0
	}
	return time.Duration(float64(clock-c.first) / float64(freq) * float64(time.Second))
}

// write writes a generation if it is to be kept. end is the clock reading when it was over.
func (c *rewriter) write(g *raw, end uint64) error {
	start := c.since(g.began, g.freq)
	c.end = c.since(end, g.freq)
	if c.keep != nil && !c.keep(start, c.end) {
		c.out.Skipped++
		return nil
	}
	if c.change != nil {
		c.change(g)
	}
	var head []byte
	for _, b := range g.batches {
		head = append(head[:0], byte(wire.EventBatch))
		for _, v := range []uint64{g.num, b.thread, b.time, uint64(b.size)} {
			head = binary.AppendUvarint(head, v)
		}
		for _, p := range [][]byte{head, g.payload(b)} {
			n, err := c.w.Write(p)
			c.out.Bytes += int64(n)
			if err != nil {
				return err
			}
		}
	}
	if c.in.version >= wire.Specs[wire.EndOfGeneration].Since {
		if err := c.w.WriteByte(byte(wire.EndOfGeneration)); err != nil {
			return err
		}
		c.out.Bytes++
	}
	if c.out.Generations == 0 {
		c.out.From = start
	}
	c.out.To = c.end
	c.out.Generations++
	return nil
}
