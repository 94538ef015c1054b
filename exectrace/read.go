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
// Blocks keep the cost of an analysis at one loop: with a call per event and analysis, the calls
// would cost more than the work.
type Fold interface {
	// Events takes the next events. It must not keep a reference to the block.
	Events(t *Trace, b *Block)
	// End is called at the end of the trace, at t.Now(). The table of goroutines has the states
	// that are still open; a fold counts them if that is its job.
	End(t *Trace)
}

// Stopper is a fold that can stop early. If all folds of a reading are Stoppers and Done, the
// reading ends as if the trace ended there.
type Stopper interface {
	Fold
	Done() bool
}

// Options say how to read.
type Options struct {
	// MaxInflated is the maximum size of a compressed trace after decompression, in bytes; 0 is 16
	// GiB.
	MaxInflated int64
	// Progress, if set, is called after each generation with the number of bytes of the
	// (decompressed) trace read so far.
	Progress func(bytes int64)
}

// Broken is the error of a trace that ends too early, or of which a part was lost.
type Broken struct {
	Offset     int64  // in the (decompressed) trace, bytes
	Generation uint64 // the damaged generation; 0 if none had started
	Err        error  // what is wrong there
	Lost       int    // number of generations that were not read, or not to their end, as far as is known
}

func (b *Broken) Error() string {
	where := "before its first generation"
	if b.Generation > 0 {
		where = fmt.Sprintf("in generation %d", b.Generation)
	}
	return fmt.Sprintf("execution trace is broken %s, at byte %d: %v", where, b.Offset, b.Err)
}

// Unwrap returns Err.
func (b *Broken) Unwrap() error { return b.Err }

// Usable separates the errors of Read. If the trace is damaged, but not before its first events, it
// returns the damage and no error; the folds have then seen the part before the damage.
func Usable(t *Trace, err error) (*Broken, error) {
	var cut *Broken
	if errors.As(err, &cut) && t != nil && t.Info().Events > 0 {
		return cut, nil
	}
	return nil, err
}

// Note returns a sentence for a page that shows only the part before the damage.
func (b *Broken) Note() string { return b.Error() + "; the results are of the part before the damage" }

// Read reads a trace to its end and passes its events to the folds. Traces may be compressed with
// gzip or zstd.
//
// For a trace that is truncated or damaged, Read passes the events of the intact generations to the
// folds, ends the folds, and returns both the Trace and an error of type *Broken. If events of a
// generation contradict each other, the folds get the events before the contradiction. After such a
// generation, and after a missing one, they get an event Gap, and all states start from nothing.
// For any other error (not a trace, an unsupported version, ctx) the Trace is nil.
//
// Another goroutine reads the next generation while the folds process one. If ctx ends early, or
// the folds have seen enough, that goroutine ends when its current call of r.Read returns.
func Read(ctx context.Context, r io.Reader, opt Options, folds ...Fold) (*Trace, error) {
	// The state of the order and the folds fits in the L2 cache of one processor. If the scheduler
	// moves this goroutine to another one with each generation that arrives, that costs 5 to 10 %
	// of the CPU time.
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
			if err := ctx.Err(); err != nil { // the reader ends in this case too; that is not the end of the trace
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
	stop    []Stopper // the folds, if all of them are Stoppers
	ahead   *ahead
	trace   *Trace
	order   *order
	broken  *Broken
	began   bool   // at least one event was passed to the folds
	restart bool   // what came before the next generation is lost
	num     uint64 // number of the last generation
	lost    int    // number of generations since the last intact one
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

// errDone is returned when all folds have seen enough.
var errDone = errors.New("all folds are done")

func (r *run) done() bool {
	for _, s := range r.stop {
		if !s.Done() {
			return false
		}
	}
	return len(r.stop) > 0
}

// generation processes a generation that was read. It returns an error only when ctx ended, or
// errDone.
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

// lose records that generations were lost.
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

// put passes the events of a generation to the folds.
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

// flush passes the block to the folds.
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

// end ends the folds. bytes is the number of bytes of the trace that were read.
func (r *run) end(bytes int64) (*Trace, error) {
	t := r.trace
	t.info.Bytes = bytes
	t.info.Length = timeSpan(t.now)
	if t.info.Generations == 0 && r.broken == nil {
		r.broken = &Broken{Offset: bytes, Err: errors.New("it contains no generation")}
	}
	for _, f := range r.folds {
		f.End(t)
	}
	if r.broken != nil {
		return t, r.broken
	}
	return t, nil
}
