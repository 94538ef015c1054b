package window

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/timeline"
	"github.com/hone-go/hone/profile"
)

// Bounds on an index and on what is read for an answer.
const (
	mostHeld  = 4 << 20  // entries of all snapshots together: 64 MB
	mostRead  = 12 << 20 // bytes of a trace that are read again for curves
	mostLanes = 6 << 20  // and for the spans of goroutines
	mostSpans = 3000
)

// generation is a generation of an indexed trace.
type generation struct {
	place exectrace.Place
	since int64 // start of its events
	held  []held
}

// held is a goroutine that is off the processor when a generation starts, and where it left the
// processor.
type held struct {
	id uint64
	Held
}

// Index answers questions about intervals of a trace. It is safe for concurrent use.
type Index struct {
	file  io.ReaderAt
	size  int64
	head  []byte
	trace *exectrace.Trace
	fold  *Fold
	end   int64

	requests []request // in order of their ends

	mu sync.Mutex // guards trace's cache of frames
}

// Indexer builds an Index of a trace while it is read: pass its Fold to [exectrace.Read].
type Indexer struct {
	fold *Fold
	list []request
}

// NewIndexer returns an Indexer.
func NewIndexer() *Indexer { return &Indexer{fold: newIndexer()} }

// Request adds a request to the index: an Ended function for package requests. After 8 million
// requests, further ones are ignored.
func (x *Indexer) Request(id, begin, end int64) {
	if len(x.list) < mostRequests {
		x.list = append(x.list, request{id, begin, end})
	}
}

// Fold returns the fold that takes the events.
func (x *Indexer) Fold() exectrace.Fold { return x.fold }

// Index returns the index of the trace that was read. file holds the same bytes, not compressed;
// the Index keeps using it.
func (x *Indexer) Index(t *exectrace.Trace, file io.ReaderAt) (*Index, error) {
	f := x.fold
	if len(f.marks) == 0 {
		return nil, errors.New("index of an execution trace: it contains no generation")
	}
	head := make([]byte, exectrace.HeaderSize)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("index of an execution trace: %w", err)
	}
	f.sums.settle()
	f.gs = nil
	slices.SortStableFunc(x.list, func(a, b request) int { return cmp.Compare(a.end, b.end) })
	return &Index{requests: x.list, file: file, size: t.Info().Bytes, head: head, trace: t, fold: f, end: max(1, t.Now())}, nil
}

// Length returns the length of the trace in nanoseconds.
func (x *Index) Length() int64 { return x.end }

// clip clips an interval to the trace; to 0 is the end.
func (x *Index) clip(from, to int64) (int64, int64, error) {
	if to <= 0 || to > x.end {
		to = x.end
	}
	from = max(0, from)
	if from >= to {
		return 0, 0, fmt.Errorf("no such interval: the trace ends after %.9f s", exectrace.Seconds(x.end))
	}
	return from, to, nil
}

// covering returns the generations first <= i < last that cover an interval, and their size in
// bytes.
func (x *Index) covering(from, to int64) (first, last int, bytes int64) {
	m := x.fold.marks
	first = max(0, sort.Search(len(m), func(i int) bool { return m[i].since > from })-1)
	last = sort.Search(len(m), func(i int) bool { return m[i].since >= to })
	last = max(last, first+1)
	return first, last, x.offset(last) - x.offset(first)
}

func (x *Index) offset(i int) int64 {
	if i < len(x.fold.marks) {
		return x.fold.marks[i].place.Offset
	}
	return x.size
}

// read reads generations for folds. It ignores damage, which the full reading has reported.
func (x *Index) read(ctx context.Context, first, last int, folds ...exectrace.Fold) (*exectrace.Trace, error) {
	from := x.offset(first)
	r := io.MultiReader(bytes.NewReader(x.head), io.NewSectionReader(x.file, from, x.offset(last)-from))
	t, err := exectrace.Read(ctx, r, exectrace.Options{}, folds...)
	_, err = exectrace.Usable(t, err)
	return t, err
}

// options returns the Options of a Fold that reads from a generation on.
func (x *Index) options(first int, from, to int64) Options {
	g := &x.fold.marks[first]
	o := Options{From: from, To: to, Shift: g.place.Began, Held: make(map[uint64]Held, len(g.held))}
	for _, h := range g.held {
		o.Held[h.id] = h.Held
	}
	return o
}

// Views returns the views of Profile, as [analysis.Profiles] names them.
func Views() []string { return []string{"cpu", "blocking", "sched", "syscalls"} }

// Profile returns a view of an interval. cpu has samples; the others have counts and nanoseconds.
// States that started before from or ended after to count with the part within.
func (x *Index) Profile(ctx context.Context, view string, from, to int64) (*profile.Profile, error) {
	from, to, err := x.clip(from, to)
	if err != nil {
		return nil, err
	}
	state, ok := map[string]exectrace.State{"cpu": sampled, "blocking": exectrace.Waiting, "sched": exectrace.Runnable, "syscalls": exectrace.Syscall}[view]
	if !ok {
		return nil, fmt.Errorf("no view %q of an interval of a trace; there are %q", view, Views())
	}
	b := newBuilder(state)
	add := func(from, to int64, first, last int) error {
		o := x.options(first, from, to)
		o.Sums = true
		f := New(o)
		t, err := x.read(ctx, first, last, f)
		if err != nil {
			return err
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		for i, c := range f.sums.now {
			k := f.sums.keys[i]
			if k.held {
				b.add(x.trace, k, c)
			} else {
				b.add(t, k, c)
			}
		}
		return nil
	}
	m := x.fold.marks
	first, last, _ := x.covering(from, to)
	left, right := first, last // whole generations in between
	if from > m[first].since {
		left++
	}
	if last < len(m) && to < m[last].since || last == len(m) && to < x.end {
		right--
	}
	if left >= right || len(x.fold.sums.spans) != len(m) { // within two generations, or the sums lack one
		if err := add(from, to, first, last); err != nil {
			return nil, err
		}
		return b.profile(to - from)
	}
	if left > first {
		if err := add(from, m[left].since, first, left); err != nil {
			return nil, err
		}
	}
	x.mu.Lock()
	for _, s := range x.fold.sums.spans[left:right] {
		for _, c := range s.cells {
			k := x.fold.sums.keys[c.key]
			b.add(x.trace, k, c.cell)
		}
	}
	x.mu.Unlock()
	if right < last {
		if err := add(m[right].since, to, right, last); err != nil {
			return nil, err
		}
	}
	return b.profile(to - from)
}

// lanes returns the spans of goroutines and processors in an interval.
func (x *Index) lanes(t *timeline.Result, shift int64, first int) *timeline.Result {
	held := map[uint64]exectrace.StackID{}
	for _, h := range x.fold.marks[first].held {
		held[h.id] = h.Left
	}
	known := map[exectrace.Line]int{}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range t.Goroutines {
		spans := t.Goroutines[i].Spans
		if len(spans) == 0 || spans[0].Line >= 0 || spans[0].State == "running" {
			continue
		}
		if s, ok := held[t.Goroutines[i].ID]; ok { // it waited when the generation started
			l := x.trace.Blame(s)
			n, ok := known[l]
			if !ok {
				n = len(t.Lines)
				known[l] = n
				t.Lines = append(t.Lines, l)
			}
			spans[0].Line = n
		}
	}
	shiftSpans := func(rows []timeline.Row) {
		for i := range rows {
			for j := range rows[i].Spans {
				rows[i].Spans[j].From += shift
				rows[i].Spans[j].To += shift
			}
		}
	}
	shiftSpans(t.Goroutines)
	shiftSpans(t.Processors)
	for i := range t.Bands {
		t.Bands[i].From += shift
		t.Bands[i].To += shift
	}
	for i := range t.Wakes {
		t.Wakes[i].At += shift
	}
	t.From += shift
	t.To += shift
	return t
}
