package exectrace_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetext"
	"github.com/hone-go/hone/exectrace/internal/wire"
)

const (
	largeGeneration = 40 << 20 // bytes
	heapEvents      = 5000     // per batch
)

// large writes a trace whose generations are so large that two do not fit into memory. Each batch
// has events of one heap size, which is the batch's number.
type large struct {
	t           *testing.T
	ready       bytes.Buffer
	generation  int
	generations int
	left        int // bytes left in the generation
	batch       uint64
	payload     []byte
	given       atomic.Int64
}

func (l *large) Read(b []byte) (int, error) {
	for l.ready.Len() == 0 {
		switch {
		case l.left > 0:
			l.write()
		case l.generation == l.generations:
			return 0, io.EOF
		default:
			l.begin()
		}
	}
	n, err := l.ready.Read(b)
	l.given.Add(int64(n))
	return n, err
}

// time is the start of the next batch.
func (l *large) time() uint64 { return 100 + 2*heapEvents*l.batch }

// begin starts a generation.
func (l *large) begin() {
	l.generation++
	l.left = largeGeneration
	l.batch++
	data, err := tracetext.Assemble(fmt.Sprintf("trace 26\ngeneration %d\nthread 1 time=%d\nProcStatus p=0 pstatus=1\n", l.generation, l.time()))
	if err != nil {
		l.t.Error(err)
	}
	if data = bytes.TrimSuffix(data, []byte{byte(wire.EndOfGeneration)}); l.generation > 1 {
		data = data[wire.HeaderSize:]
	}
	l.ready.Write(data)
}

// write writes the next batch of a generation.
func (l *large) write() {
	l.batch++
	payload := l.payload[:0]
	for range heapEvents {
		payload = append(payload, byte(wire.HeapAlloc), 1)
		payload = binary.AppendUvarint(payload, 1<<63|l.batch)
	}
	l.ready.WriteByte(byte(wire.EventBatch))
	for _, v := range []uint64{uint64(l.generation), 1, l.time(), uint64(len(payload))} {
		l.ready.Write(binary.AppendUvarint(nil, v))
	}
	l.ready.Write(payload)
	l.payload = payload
	if l.left -= len(payload); l.left <= 0 {
		l.ready.WriteByte(byte(wire.EndOfGeneration))
	}
}

// heaps checks that the heap sizes are those of the batches in order.
type heaps struct {
	last, seen uint64
	bad        int
}

func (f *heaps) Events(_ *exectrace.Trace, b *exectrace.Block) {
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind != exectrace.HeapAlloc {
			continue
		}
		if f.seen%heapEvents == 0 && e.Value > f.last {
			f.last = e.Value
		}
		if e.Value != f.last {
			f.bad++
		}
		f.seen++
	}
}

func (f *heaps) End(*exectrace.Trace) {}

// TestLargeGenerations: two large generations are never in memory together, and one does not use
// the memory that the unread part of the other needs.
func TestLargeGenerations(t *testing.T) {
	src, fold := &large{t: t, generations: 3}, &heaps{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tr, err := exectrace.Read(t.Context(), src, exectrace.Options{}, fold)
	runtime.ReadMemStats(&after)
	if err != nil || tr.Info().Generations != 3 {
		t.Fatalf("Read: %v, %+v", err, tr)
	}
	batches := src.batch - 3
	if fold.bad > 0 || fold.seen != batches*heapEvents || fold.last != 1<<63|src.batch {
		t.Errorf("%d of %d events are wrong, of %d; the last is %x", fold.bad, fold.seen, batches*heapEvents, fold.last)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 2*largeGeneration-(10<<20) {
		t.Errorf("%d MiB for generations of %d", grown>>20, largeGeneration>>20)
	}
}

// untilFull cancels a reading once nothing more is read.
type untilFull struct {
	t      *testing.T
	src    *large
	cancel func()
	done   bool
}

func (f *untilFull) Events(*exectrace.Trace, *exectrace.Block) {
	if f.done {
		return
	}
	f.done = true
	for given, since := f.src.given.Load(), time.Now(); time.Since(since) < 100*time.Millisecond; time.Sleep(time.Millisecond) {
		if n := f.src.given.Load(); n != given {
			given, since = n, time.Now()
		}
	}
	if n := f.src.given.Load(); n < largeGeneration || n > 2*largeGeneration-(10<<20) {
		f.t.Errorf("%d MiB were read while the first generation of %d is put into order", n>>20, largeGeneration>>20)
	}
	f.cancel()
}

func (f *untilFull) End(*exectrace.Trace) {}

// TestCancelWhileReadingWaits: a reading that is canceled while the next generation waits for
// memory leaves no goroutine behind.
func TestCancelWhileReadingWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := runtime.NumGoroutine()
	src := &large{t: t, generations: 3}
	if _, err := exectrace.Read(ctx, src, exectrace.Options{}, &untilFull{t: t, src: src, cancel: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	for begin := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}
