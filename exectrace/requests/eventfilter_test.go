package requests

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// Stacks of goroutines that belong to requests, or will, and of others.
var siftStacks = []string{
	peek, firstRead, background, flush, abort, lock + handler, "main.work:3" + handler,
	"runtime.chanrecv1 < main.other:5", "time.Sleep < main.other:6", "runtime.chansend1 < main.other:7", "",
	"runtime.chanrecv2 < google.golang.org/grpc.(*Server).serverWorker", carries, fastPeek, fastBody, fastFlush, fastIdles, "main.slow:2 < " + runs,
	"main.list:3 < net/http.HandlerFunc.ServeHTTP < net/http.serverHandler.ServeHTTP < net/http.(*http2serverConn).runHandler",
}

// siftEntries are the functions that goroutines start with.
var siftEntries = []string{
	"net/http.(*conn).serve", "net/http.(*http2serverConn).runHandler", "google.golang.org/grpc.(*Server).serverWorker", "main.other", "main.other", runs, "runtime.bgsweep", "runtime.corostart",
}

var siftReasons = []exectrace.Reason{exectrace.WaitNetwork, exectrace.WaitSync, exectrace.WaitChanReceive, exectrace.WaitSleep, exectrace.WaitCond, exectrace.WaitSelect}

// crowd is a random trace of goroutines that start, exit, and begin to serve requests at any time.
type crowd struct {
	*fake
	rng   *rand.Rand
	tasks uint64
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func newCrowd(seed uint64, events int) *crowd {
	c := &crowd{fake: newFake(), rng: rand.New(rand.NewPCG(seed, 1))}
	for range 4 {
		c.old()
	}
	for len(c.events) < events {
		c.after(c.rng.Int64N(50))
		c.next()
	}
	return c
}

// next makes one random event.
func (c *crowd) next() {
	g, at := exectrace.GIndex(c.rng.IntN(len(c.gs))), pick(c.rng, siftStacks)
	switch c.gs[g].State {
	case exectrace.Running:
		c.act(g, at)
	case exectrace.Runnable:
		c.start(g)
	case exectrace.Syscall:
		if c.rng.IntN(4) == 0 {
			c.lose(g)
		} else {
			c.leave(g)
		}
	case exectrace.Waiting:
		by := exectrace.GIndex(c.rng.IntN(len(c.gs)))
		if c.gs[by].State != exectrace.Running {
			by, at = nobody, ""
		}
		c.wake(g, by, at)
	case exectrace.Gone: // its index is used again
		c.gs[g] = exectrace.Goroutine{ID: c.gs[g].ID + 1000, Entry: c.gs[g].Entry}
		c.change(exectrace.GoCreate, g, nobody, exectrace.Runnable, exectrace.Created, "")
	}
}

// act makes a random event of a running goroutine.
func (c *crowd) act(g exectrace.GIndex, at string) {
	switch c.rng.IntN(16) {
	case 0:
		if len(c.gs) < 150 { // more than fit at first
			c.create(g, pick(c.rng, siftEntries), at)
		}
	case 1:
		c.end(g)
	case 2, 3:
		c.stop(g, at)
	case 4, 5, 6, 7:
		c.block(g, pick(c.rng, siftReasons), at)
	case 8:
		c.tasks++
		c.mark(exectrace.TaskBegin, g, c.tasks, at, fmt.Sprint("job", c.tasks%3))
	case 9:
		c.mark(exectrace.TaskEnd, g, 1+c.rng.Uint64N(c.tasks+1), at, "")
	case 10:
		kinds := []exectrace.Kind{exectrace.RegionBegin, exectrace.RegionEnd, exectrace.Log, exectrace.CPUSample, exectrace.GCMarkAssistBegin, exectrace.GCMarkAssistEnd}
		c.mark(pick(c.rng, kinds), g, 0, at, "load")
	case 12:
		if to := exectrace.GIndex(c.rng.IntN(len(c.gs))); c.gs[to].State == exectrace.Waiting {
			c.swap(g, to)
		}
	case 11:
		if c.rng.IntN(40) == 0 {
			c.put(exectrace.Event{Kind: exectrace.Gap, G: nobody, By: nobody, P: -1})
		}
	default:
		c.enter(g, at)
	}
}

// everything lets all events through, for a fold without a filter.
var everything = func() (t [64]concern) {
	for k := range t {
		t[k] = always
	}
	return t
}()

func TestSiftingMissesNothing(t *testing.T) {
	count, cut := int64(0), int64(0)
	for seed := range uint64(20) {
		c := newCrowd(seed, 24*chunk)
		for _, opt := range []Options{{Slowest: 1000}, {Slowest: 1000, Paths: true}} {
			fold := New(opt)
			fold.relevant = &everything
			want := report(t, c.run(fold, 1))
			for _, size := range []int{1, 2, chunk - 1, len(c.events)} {
				if got := report(t, c.foldBy(size, opt)); got != want {
					t.Fatalf("seed %d, %+v: blocks of %d events tell\n%s\nwant\n%s", seed, opt, size, got, want)
				}
			}
		}
		res := c.fold(Options{}).Result()
		count, cut = count+res.Count, cut+res.Cut
	}
	if count < 300 || cut < 30 {
		t.Errorf("%d requests and %d cut ones are too few to tell", count, cut)
	}
}

// report is everything that a fold reports.
func report(t *testing.T, fold *Fold) string {
	t.Helper()
	text, err := json.Marshal([]any{fold.Result(), fold.CPU(), fold.RunPath()})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSamplesOfGoroutinesThatARequestStarted(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	f.block(g, exectrace.WaitSync, lock+handler)
	f.wake(g, nobody, "")
	f.start(g)
	child := f.create(g, "main.child", "main.spawn"+handler)
	f.start(child)
	grandchild := f.create(child, "main.grandchild", "main.spawn < main.child")
	f.start(grandchild)
	stranger := f.runner("main.other")
	for _, sampled := range []exectrace.GIndex{child, grandchild, stranger} {
		f.mark(exectrace.CPUSample, sampled, 0, "main.busy < main.child", "")
	}
	// Their indexes are used again for goroutines of Go and of C.
	f.end(child)
	f.gs[child] = exectrace.Goroutine{ID: 7}
	f.change(exectrace.GoCreate, child, stranger, exectrace.Runnable, exectrace.Created, "")
	f.end(grandchild)
	f.gs[grandchild] = exectrace.Goroutine{ID: 8}
	f.change(exectrace.GoCreateSyscall, grandchild, nobody, exectrace.Syscall, exectrace.ReasonNone, "")
	for range 3 {
		f.mark(exectrace.CPUSample, child, 0, "main.busy", "")
		f.mark(exectrace.CPUSample, grandchild, 0, "main.busy", "")
	}
	f.answer(g)
	f.call(g, 10, peek)
	cpu := f.fold(Options{}).CPU()
	if len(cpu.Routes) != 1 || cpu.Routes[0].Samples != 2 || cpu.Outside != 7 {
		t.Errorf("samples by route are %+v and %d outside, want 2 and 7", cpu.Routes, cpu.Outside)
	}
}
