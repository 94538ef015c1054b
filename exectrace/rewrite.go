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
	// From and To are the times, since the begin of the trace that was read, of what was
	// written: whole generations, so more than was asked for.
	From, To time.Duration
}

// Cut copies the generations that have something between two times since the trace's begin to w, as
// a trace of its own that every tool reads. to 0 is the end. A generation is about a second, and is copied
// as it is, but for batches of experiments, which are left out.
//
// A trace that is cut short or broken gives its good generations in that range, and an error of type *Broken.
func Cut(ctx context.Context, w io.Writer, r io.Reader, from, to time.Duration, opt Options) (Written, error) {
	return rewrite(ctx, w, r, opt, func(begin, end time.Duration) bool {
		return end > from && (to == 0 || begin < to)
	}, nil)
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

// rewriter copies generations, one behind what it has read: when a generation ended is known when the
// next begins.
type rewriter struct {
	in     *input
	w      *bufio.Writer
	keep   func(begin, end time.Duration) bool
	change func(*raw) // what is done to a generation before it is written; nil for nothing

	first  uint64 // clock units: the trace's begin
	before *raw
	out    Written
}

// rewrite copies the generations of r that keep wants.
func rewrite(ctx context.Context, w io.Writer, r io.Reader, opt Options, keep func(begin, end time.Duration) bool, change func(*raw)) (Written, error) {
	in, err := openInput(r, opt)
	if err != nil {
		return Written{}, err
	}
	defer in.close()
	c := &rewriter{in: in, w: bufio.NewWriterSize(w, 256<<10), keep: keep, change: change}
	if _, err := c.w.Write(wire.Header(in.version)); err != nil {
		return c.out, err
	}
	c.out.Bytes = wire.HeaderSize
	broken := c.generations(ctx, opt)
	if ctx.Err() != nil {
		return c.out, ctx.Err()
	}
	if c.before != nil {
		if err := c.write(c.before, 0); err != nil {
			return c.out, err
		}
	}
	if err := c.w.Flush(); err != nil {
		return c.out, err
	}
	return c.out, broken
}

// generations reads all. What is wrong with the trace is a *Broken.
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

// last takes the generation that the trace ends in.
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

// done takes a whole generation: the one before it can be written now.
func (c *rewriter) done(g *raw) error {
	if g.freq == 0 {
		return fmt.Errorf("generation %d has no frequency of the clock", g.num)
	}
	if c.before == nil {
		c.first = g.began
	} else if err := c.write(c.before, g.began); err != nil {
		return err
	}
	c.before = g
	return nil
}

// since is a clock reading as time since the trace's begin.
func (c *rewriter) since(clock, freq uint64) time.Duration {
	if clock < c.first {
		return 0
	}
	return time.Duration(float64(clock-c.first) / float64(freq) * float64(time.Second))
}

// write writes a generation if it is wanted. end is the clock when the next one began, 0 for the last.
func (c *rewriter) write(g *raw, end uint64) error {
	begin, until := c.since(g.began, g.freq), time.Duration(1<<62)
	if end > 0 {
		until = c.since(end, g.freq)
	}
	if !c.keep(begin, until) {
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
		c.out.From = begin
	}
	c.out.To = begin
	if end > 0 {
		c.out.To = until
	}
	c.out.Generations++
	return nil
}
