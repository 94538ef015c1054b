package exectrace

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ahead reads generations and their tables while the previous generation is being ordered.
type ahead struct {
	in    *input
	all   *internTable
	ready chan readAhead
	free  chan *generation
	// head is the header of the first batch of the next generation. Before Go 1.26 nothing else
	// shows that a generation is complete.
	head     batchHeader
	haveHead bool
	headAt   int64 // offset of head in the trace
	tail     error
}

// readAhead is a generation and its errors.
type readAhead struct {
	g   *generation
	err error
	// tail is an error after the generation. Before Go 1.26 it may mean that the generation is
	// incomplete.
	tail error
}

// inMemory is the number of generations in memory: one being ordered, one being read.
const inMemory = 2

func newAhead(in *input) *ahead {
	a := &ahead{in: in, all: newInternTable(), ready: make(chan readAhead), free: make(chan *generation, inMemory)}
	pool := newPool()
	for range inMemory {
		a.free <- &generation{memory: memory{pool: pool}}
	}
	return a
}

// read reads until the end of the trace, or until the sequence of batches is damaged.
func (a *ahead) read(ctx context.Context) {
	defer close(a.ready)
	defer a.in.close()
	for more := true; more; {
		var g *generation
		select {
		case <-ctx.Done():
			return
		case g = <-a.free:
		}
		g.reset()
		var err error
		more, err = a.generation(ctx, g)
		if !more && err == nil && !g.any {
			return
		}
		g.end = a.in.off
		if err == nil {
			err = g.parse(a.in.version, a.all)
		}
		g.memory.lend()
		select {
		case <-ctx.Done():
			return
		case a.ready <- readAhead{g, err, a.tail}:
		}
	}
}

var errUnfinished = errors.New("the trace ends within the generation")

// generation reads the batches of a generation. It reports whether more may follow.
func (a *ahead) generation(ctx context.Context, g *generation) (more bool, err error) {
	for {
		begin := a.in.off
		if a.haveHead {
			begin = a.headAt
		}
		h, err := a.next()
		switch {
		case err == errEnd && g.any && a.in.version >= 26:
			return false, at(a.in.off, errUnfinished)
		case err == errEnd:
			return false, nil
		case err != nil && g.any && a.in.version < 26:
			a.tail = at(a.in.off, err)
			return false, nil
		case err != nil:
			return false, at(a.in.off, err)
		case h.end && g.any:
			return true, nil
		case h.end:
			continue
		}
		if g.any && h.gen != g.num {
			if a.in.version >= 26 {
				return false, at(a.in.off, fmt.Errorf("a batch of generation %d in generation %d", h.gen, g.num))
			}
			a.head, a.haveHead, a.headAt = h, true, begin
			return true, nil
		}
		if !g.any {
			g.start = begin
		}
		g.num = h.gen
		file := a.in.off
		b, place, err := g.memory.take(ctx, int(h.size))
		if err == nil {
			err = a.in.payload(b)
		}
		if err != nil {
			g.any = true
			return false, at(a.in.off, err)
		}
		g.add(a.in.version, h, place, file)
	}
}

// next returns the header of the next batch, starting with the one that ended the previous
// generation.
func (a *ahead) next() (batchHeader, error) {
	if a.haveHead {
		a.haveHead = false
		return a.head, nil
	}
	return a.in.next()
}

func timeSpan(ns int64) time.Duration { return time.Duration(ns) }
