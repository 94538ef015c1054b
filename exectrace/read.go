package exectrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// Fold is an analysis: it sees every event once, in order, in blocks.
//
// Blocks keep the price of an analysis at one loop: with a call per event and
// analysis, the calls would cost more than the work.
type Fold interface {
	// Events takes the next events. It must keep no reference to the block.
	Events(t *Trace, b *Block)
	// End says that the trace is over, at t.Now(). States that are still open
	// are in the table of goroutines; a fold counts them if that is its job.
	End(t *Trace)
}

// Stopper is a fold that can have seen enough. Once all folds of a reading are Done, it ends as if the trace did.
type Stopper interface {
	Fold
	Done() bool
}

// Options say how to read.
type Options struct {
	// MaxInflated bounds how much a compressed trace may hold, in bytes; 0 is 16 GiB.
	MaxInflated int64
	// Progress, when set, is called after each generation with the bytes of the (inflated) trace that were read.
	Progress func(bytes int64)
}

// Broken says where a trace ends before its end, or what of it was lost.
type Broken struct {
	Offset     int64  // in the (inflated) trace, bytes
	Generation uint64 // the one that is not good; 0 when none had begun
	Err        error  // what is wrong there
	Lost       int    // generations that were not read, or not to their end, as far as one can tell
}

func (b *Broken) Error() string {
	where := "before its first generation"
	if b.Generation > 0 {
		where = fmt.Sprintf("in generation %d", b.Generation)
	}
	return fmt.Sprintf("execution trace is broken %s, at byte %d: %v", where, b.Offset, b.Err)
}

// Unwrap returns what is wrong.
func (b *Broken) Unwrap() error { return b.Err }

// Usable sorts out what Read returned: of a trace that is broken, but not before its first events, it returns where, and no
// error. What the folds saw is of the part before.
func Usable(t *Trace, err error) (*Broken, error) {
	var cut *Broken
	if errors.As(err, &cut) && t != nil && t.Info().Events > 0 {
		return cut, nil
	}
	return nil, err
}

// Note says of a page that it shows the part before.
func (b *Broken) Note() string { return b.Error() + "; what is shown is of the part before" }

// Read reads a trace to its end and hands its events to the folds. Traces may be compressed
// with gzip or zstd.
//
// A trace that is cut short or broken gives the events of its good generations, and
// an error of type *Broken beside the Trace: the folds have ended well. A generation in
// which events contradict each other gives those up to there; after it, or after one that is
// missing, comes an event Gap and everything starts again. Any other error (not a trace, a version
// that is not read, ctx) comes without a Trace.
//
// The next generation is read while the folds see one, by another goroutine. When ctx ends
// first, or the folds have seen enough, that goroutine ends with its call of r.Read.
func Read(ctx context.Context, r io.Reader, opt Options, folds ...Fold) (*Trace, error) {
	// What the order and the folds know stays in the L2 cache of one processor. Where the scheduler moves
	// them to another, at each generation that comes in, that costs a twentieth to a tenth of the CPU time.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	in, err := openInput(r, opt)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	run := newRun(ctx, in, opt, folds)
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("read execution trace: %w", ctx.Err())
		case got, ok := <-run.ahead.ready:
			if err := ctx.Err(); err != nil { // the reader ends then, too, which is no end of the trace
				return nil, fmt.Errorf("read execution trace: %w", err)
			}
			if !ok {
				return run.end(run.ahead.in.off)
			}
			err := run.generation(got)
			if err == errDone {
				return run.end(got.g.end)
			}
			if err != nil {
				return nil, fmt.Errorf("read execution trace: %w", err)
			}
			got.g.memory.release()
			run.ahead.free <- got.g
		}
	}
}

// run is one reading of a trace.
type run struct {
	ctx     context.Context
	opt     Options
	folds   []Fold
	stop    []Stopper // the folds, if all of them can have seen enough
	ahead   *ahead
	trace   *Trace
	order   *order
	broken  *Broken
	began   bool   // an event was handed out
	restart bool   // what came before the next generation is lost
	num     uint64 // the last generation
	lost    int    // generations since the last good one
}

func newRun(ctx context.Context, in *input, opt Options, folds []Fold) *run {
	t := &Trace{info: Info{Version: in.version}, labels: newLabels()}
	t.order = newOrder(t)
	r := &run{ctx: ctx, opt: opt, folds: folds, stop: stoppers(folds), trace: t, order: t.order, ahead: newAhead(in)}
	go r.ahead.read(ctx)
	return r
}

func stoppers(folds []Fold) []Stopper {
	var out []Stopper
	for _, f := range folds {
		s, ok := f.(Stopper)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// errDone is when all folds have seen enough.
var errDone = errors.New("all folds are done")

func (r *run) done() bool {
	for _, s := range r.stop {
		if !s.Done() {
			return false
		}
	}
	return len(r.stop) > 0
}

// generation takes what was read of a generation. It returns an error only when ctx ended, or errDone.
func (r *run) generation(got readAhead) error {
	g := got.g
	if r.num != 0 && g.any && g.num != r.num+1 {
		missing := 1
		if g.num > r.num {
			missing = int(min(g.num-r.num-1, 1<<30))
		}
		r.lose(g.num, missing, at(g.from, fmt.Errorf("generation %d follows %d", g.num, r.num)))
	}
	if g.any {
		r.num = g.num
	}
	if got.err != nil && got.tail != nil {
		got.err = got.tail
	}
	if got.err != nil {
		num, lost := g.num, 1
		if !g.any {
			lost = 0
			if r.num > 0 {
				num = r.num + 1
			}
		}
		r.lose(num, lost, got.err)
		return nil
	}
	err := r.put(g)
	if ctxErr := r.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if err == errDone {
		return err
	}
	switch {
	case err != nil && got.tail != nil:
		r.lose(g.num, 1, got.tail)
	case err != nil:
		r.lose(g.num, 1, err)
	case got.tail != nil:
		r.lose(g.num+1, 0, got.tail)
	}
	r.trace.info.Bytes = g.end
	if r.opt.Progress != nil {
		r.opt.Progress(g.end)
	}
	return nil
}

// lose notes that generations were lost.
func (r *run) lose(num uint64, lost int, err error) {
	if r.broken == nil {
		r.broken = &Broken{Generation: num, Err: err}
		var where *atOffset
		if errors.As(err, &where) {
			r.broken.Offset, r.broken.Err = where.file, where.err
		}
	}
	r.broken.Lost += lost
	r.lost += lost
	r.restart = true
}

// put hands out the events of a generation.
func (r *run) put(g *generation) error {
	o, t := r.order, r.trace
	g.first = r.restart || !r.began
	if r.restart && r.began {
		o.event(Gap, 0, uint64(r.lost))
		if err := r.flush(); err != nil {
			return err
		}
		o.forget()
	}
	r.restart, r.lost = false, 0
	t.known = g.known
	begin := g.clock.base(g.began)
	if !r.began {
		o.start = o.stampAt(begin)
		o.last = o.start - 1
		if g.clock.hasWall {
			t.info.Start = g.clock.wall.Add(-timeSpan(g.clock.base(g.clock.wallAt) - o.start))
		}
		r.began = true
	}
	o.g = g
	t.place = Place{Number: g.num, Offset: g.start, Began: begin - o.start}
	now := o.event(Sync, begin, g.num)
	if g.first {
		o.epoch = now
	}
	t.info.Generations++
	err := o.begin(g)
	if err == nil {
		err = o.run(r.flush)
	}
	return cmp.Or(err, r.flush())
}

// flush hands the block to the folds.
func (r *run) flush() error {
	o, t := r.order, r.trace
	if o.n > 0 {
		b := Block{Events: o.events[:o.n], Rare: o.rare}
		t.now = o.events[o.n-1].Time
		t.info.Events += int64(o.n)
		for _, f := range r.folds {
			f.Events(t, &b)
		}
		o.n, o.rare, o.notes = 0, o.rare[:0], o.notes[:0]
		o.free = append(o.free, o.gone...)
		o.gone = o.gone[:0]
	}
	if r.done() {
		return errDone
	}
	return r.ctx.Err()
}

// end ends the folds after so many bytes of the trace.
func (r *run) end(bytes int64) (*Trace, error) {
	t := r.trace
	t.info.Bytes = bytes
	t.info.Length = timeSpan(t.now)
	if t.info.Generations == 0 && r.broken == nil {
		r.broken = &Broken{Offset: bytes, Err: errors.New("it holds no generation")}
	}
	for _, f := range r.folds {
		f.End(t)
	}
	if r.broken != nil {
		return t, r.broken
	}
	return t, nil
}
