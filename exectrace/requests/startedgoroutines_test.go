package requests

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
)

// The stacks of a handler below http.TimeoutHandler.
const (
	timed    = " < net/http.(*timeoutHandler).ServeHTTP < net/http.serverHandler.ServeHTTP" + serve
	runs     = "net/http.(*timeoutHandler).ServeHTTP.func1"
	inTimed  = " < main.slow:7 < net/http.HandlerFunc.ServeHTTP < " + runs
	response = "syscall.Write < net.(*conn).Write < bufio.(*Writer).Flush < net/http.(*chunkWriter).Write"
)

// TestHandlersBelowATimeout compares every part of a request whose handler runs on another
// goroutine with the time that it took, and with what the handler does while the request's own
// goroutine does not wait for it.
func TestHandlersBelowATimeout(t *testing.T) {
	f := newFake()
	g := f.connection()
	holder := f.create(nobody, "main.hold", "main.main")
	f.start(holder)
	f.arrive(g, firstRead)
	f.after(10)
	d := f.create(g, runs, "net/http.(*timeoutHandler).ServeHTTP < net/http.serverHandler.ServeHTTP"+serve)
	f.after(20).start(d)
	f.after(30).enter(d, "syscall.Open"+inTimed)
	f.after(40).block(g, exectrace.WaitSelect, "runtime.selectgo"+timed) // the call's last 40 + 1 overlap the request
	f.after(100).leave(d)
	f.after(50).block(d, exectrace.WaitSync, lock+inTimed)
	f.after(900).wake(d, holder, "sync.(*Mutex).Unlock < main.hold:9")
	f.after(60).start(d)
	f.after(70).wake(g, d, runs)
	f.after(5).end(d)
	f.after(15).start(g)
	f.after(8).call(g, 25, response+timed)
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	q := one(t, f)

	if q.Route != "main.slow" || q.Goroutine != 100 {
		t.Errorf("it is %q of goroutine %d", q.Route, q.Goroutine)
	}
	want := map[Part]int64{
		WaitSelect: 0, WaitSync: 900 + 1, InSyscall: 10 + 1 + 100 + 25 + 1 + 30 + 1 + 1,
		ReadyWoken: 20 + 1 + 60 + 1 + 5 + 1 + 15 + 1, ReadyCreated: 0,
	}
	for p, ns := range want {
		if got := part(q, p); got != ns {
			t.Errorf("%v takes %d ns, want %d", p, got, ns)
		}
	}
	if w := q.Waits[0]; w.Object != "a sync.Mutex" || w.Waiter.Function != "main.slow" || w.Waker.Line != 9 {
		t.Errorf("its longest wait is %+v", w)
	}
	sums(t, q)
}

// TestHandlersThatAreTooLate has a handler outlive its request and finish during the next, which
// has a handler of its own.
func TestHandlersThatAreTooLate(t *testing.T) {
	f := newFake()
	g := f.connection()
	begin := func() exectrace.GIndex {
		f.arrive(g, firstRead)
		d := f.create(g, runs, "net/http.(*timeoutHandler).ServeHTTP < net/http.serverHandler.ServeHTTP"+serve)
		f.after(20).start(d)
		f.after(5).block(g, exectrace.WaitSelect, "runtime.selectgo"+timed)
		return d
	}
	finish := func() {
		f.after(15).start(g)
		f.answer(g)
	}
	late := begin()
	f.after(30).block(late, exectrace.WaitSleep, "time.Sleep"+inTimed)
	f.after(300).wake(g, nobody, "")
	finish()
	next := begin()
	f.after(200).wake(late, nobody, "")
	f.after(50).start(late)
	f.after(5).block(late, exectrace.WaitSync, lock+inTimed)
	f.after(400).wake(g, next, runs)
	f.end(next)
	f.wake(late, nobody, "")
	f.start(late)
	f.end(late)
	finish()
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	res := f.fold(Options{}).Result()
	if res.Count != 2 || len(res.Slowest) != 2 {
		t.Fatalf("found %d requests (%d cut, %d open), want 2", res.Count, res.Cut, len(res.Open))
	}
	for _, q := range res.Slowest {
		sums(t, q)
		want := map[int64]map[Part]int64{
			1: {WaitSleep: 300 + 1, WaitSync: 0, WaitSelect: 0},
			2: {WaitSleep: 0, WaitSync: 0, WaitSelect: 0},
		}[q.ID]
		for p, ns := range want {
			if got := part(q, p); got != ns {
				t.Errorf("request %d: %v takes %d ns, want %d", q.ID, p, got, ns)
			}
		}
	}
}

// TestTimeoutsOfARealServer checks the same invariants for a server below http.TimeoutHandler, over
// HTTP/1 and HTTP/2. Once the timeout is too short.
func TestTimeoutsOfARealServer(t *testing.T) {
	const n = 60
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%t", http2), func(t *testing.T) {
			var mu sync.Mutex
			locked := func(w http.ResponseWriter, _ *http.Request) {
				mu.Lock()
				time.Sleep(2 * time.Millisecond)
				mu.Unlock()
				fmt.Fprintln(w, "done")
			}
			asleep := func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }
			mux := http.NewServeMux()
			mux.Handle("/locked", http.TimeoutHandler(http.HandlerFunc(locked), time.Minute, "late"))
			mux.Handle("/asleep", http.TimeoutHandler(http.HandlerFunc(asleep), 4*time.Millisecond, "late"))
			data := record(t, func() {
				srv := httptest.NewUnstartedServer(mux)
				srv.EnableHTTP2 = http2
				srv.StartTLS()
				defer srv.Close()
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for i := range n / 4 {
							res, err := srv.Client().Get(srv.URL + []string{"/locked", "/locked", "/asleep"}[i%3])
							if !answered(t, res, err) {
								return
							}
						}
					})
				}
				wg.Wait()
				time.Sleep(20 * time.Millisecond)
			})
			f := New(Options{Paths: true, Slowest: n})
			read(t, data, f)
			res := f.Result()
			near(t, "requests", float64(res.Count), n, 0)
			parts := map[string]map[Part]int64{}
			for _, q := range res.Slowest {
				sums(t, q)
				contiguous(t, q.Path)
				name := q.Route[strings.LastIndex(q.Route, ".TestTimeouts")+1:]
				if parts[name] == nil {
					parts[name] = map[Part]int64{}
				}
				for _, p := range q.Parts {
					parts[name][p.Part] += p.Time
				}
			}
			profiles(t, f, res)
			const lockedName, asleepName = "TestTimeoutsOfARealServer.func1.1", "TestTimeoutsOfARealServer.func1.2"
			if got := parts[lockedName]; got[WaitSync] == 0 || got[WaitSleep] < n*2/3*int64(time.Millisecond) {
				t.Errorf("waits for the lock and sleeps below %s: %v of %v", lockedName, got, parts)
			}
			// Handlers of HTTP/2 wait in a select for their connection to send the answer.
			if got := parts[asleepName]; got[WaitSleep] < n/3*int64(time.Millisecond) || got[WaitSelect] != 0 && !http2 {
				t.Errorf("sleeps below %s: %v of %v", asleepName, got, parts)
			}
		})
	}
}

const (
	spawn  = "sync.(*WaitGroup).Go" + handler
	asks   = "sync.(*WaitGroup).Go.func1"
	asking = " < main.ask:20 < " + asks
	waits  = "sync.(*WaitGroup).Wait" + handler
)

// TestFanOut: for a handler that asks two services at once, the slower one decides: not what it did
// before the handler waited, nor the work of the other.
func TestFanOut(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	f.after(10)
	slow := f.create(g, asks, spawn)
	quick := f.create(g, asks, spawn)
	f.after(5).start(slow)
	f.after(40).enter(slow, "syscall.Open"+asking)
	f.after(30).block(g, exectrace.WaitSync, waits) // 30 of the call overlap the request
	f.after(10).start(quick)
	f.after(20).block(quick, exectrace.WaitSelect, "runtime.selectgo"+asking)
	f.after(60).leave(slow)
	f.after(50).block(slow, exectrace.WaitSleep, "time.Sleep"+asking)
	f.after(200).wake(quick, nobody, "")
	f.after(5).start(quick)
	f.after(5).end(quick)
	f.after(700).wake(slow, nobody, "")
	f.after(60).start(slow)
	f.after(70).wake(g, slow, "sync.(*WaitGroup).Done < "+asks)
	f.after(5).end(slow)
	f.after(15).start(g)
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	q := one(t, f)
	want := map[Part]int64{
		WaitSync: 0, WaitSelect: 0, ReadyCreated: 0,
		WaitSleep: 200 + 1 + 5 + 1 + 5 + 1 + 700 + 1,
		InSyscall: 10 + 1 + 10 + 1 + 20 + 1 + 60 + 1 + 30 + 1,
	}
	for p, ns := range want {
		if got := part(q, p); got != ns {
			t.Errorf("%v takes %d ns, want %d", p, got, ns)
		}
	}
	if w := q.Waits[0]; w.Part != WaitSleep || w.Waiter.Function != "main.ask" || w.Waiter.Line != 20 {
		t.Errorf("its longest wait is %+v", w)
	}
	sums(t, q)
}

// TestOthersAreNotFollowed: a wait is not followed if the goroutine that ended it was not started
// by the request, or was started by another request of the connection.
func TestOthersAreNotFollowed(t *testing.T) {
	f := newFake()
	worker := f.create(nobody, "main.work", "main.main")
	f.start(worker)
	g := f.connection()
	f.arrive(g, firstRead)
	left := f.create(g, "main.handle.func1", "main.handle:7"+serve)
	f.after(5).start(left)
	f.after(10).block(g, exectrace.WaitChanReceive, "runtime.chanrecv1"+handler)
	f.after(300).wake(g, worker, "main.work:5")
	f.after(5).start(g)
	f.answer(g)
	f.arrive(g, peek)
	f.after(10).block(g, exectrace.WaitChanReceive, "runtime.chanrecv1"+handler)
	f.after(400).wake(g, left, "main.handle.func1:9")
	f.after(5).start(g)
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	res := f.fold(Options{}).Result()
	if res.Count != 2 {
		t.Fatalf("found %d requests, want 2", res.Count)
	}
	for _, q := range res.Slowest {
		sums(t, q)
		if want := map[int64]int64{1: 300 + 1, 2: 400 + 1}[q.ID]; part(q, WaitChanReceive) != want {
			t.Errorf("request %d waits %d ns for a channel, want %d", q.ID, part(q, WaitChanReceive), want)
		}
	}
}

// TestTimesOfStartedGoroutinesAddUp checks that the times of requests add up if their goroutines
// start others, wait for them and outlive them at random.
func TestTimesOfStartedGoroutinesAddUp(t *testing.T) {
	for seed := range uint64(300) {
		f, rnd := newFake(), rand.New(rand.NewPCG(seed, 1))
		g := f.connection()
		others := []exectrace.GIndex{f.create(nobody, "main.work", "main.main")}
		f.start(others[0])
		for range 3 {
			f.arrive(g, firstRead)
			mine := []exectrace.GIndex{g}
			for range 60 {
				f.after(int64(rnd.IntN(50)))
				f.stir(rnd, &mine, others)
			}
			f.bringBack(g, others[0])
			f.answer(g)
			others = append(others, mine[1:]...)
		}
		f.call(g, 10, peek)
		f.block(g, exectrace.WaitNetwork, peek)
		fold := f.foldBy(1+rnd.IntN(20), Options{Paths: true})
		res := fold.Result()
		if res.Count != 3 {
			t.Errorf("seed %d: found %d requests, want 3", seed, res.Count)
		}
		for _, q := range res.Slowest {
			sums(t, q)
		}
		if want := fold.unfinishedKids(); fold.followed != want {
			t.Errorf("seed %d: %d goroutines are followed, it counts %d", seed, want, fold.followed)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (f *Fold) unfinishedKids() (n int) {
	for _, l := range f.live {
		if l != nil && l.parent != nil {
			n++
		}
	}
	return n
}

// stir makes one of the goroutines do something that its state allows; mine[0] is the request's
// own.
func (f *fake) stir(rnd *rand.Rand, mine *[]exectrace.GIndex, others []exectrace.GIndex) {
	all := append(append([]exectrace.GIndex{}, *mine...), others...)
	i := rnd.IntN(len(all))
	g := all[i]
	at := handler
	if i > 0 {
		at = asking
	}
	switch f.gs[g].State {
	case exectrace.Runnable:
		f.start(g)
	case exectrace.Syscall:
		f.leave(g)
	case exectrace.Waiting:
		by := all[rnd.IntN(len(all))]
		switch {
		case f.gs[by].State == exectrace.Running:
			f.wake(g, by, "main.wake:9 < "+asks)
		case rnd.IntN(3) == 0:
			f.wake(g, nobody, "")
		}
	case exectrace.Running:
		switch n := rnd.IntN(6); {
		case n == 0 && len(*mine) < 6 && i < len(*mine):
			*mine = append(*mine, f.create(g, []string{asks, runs, "main.handle.func1"}[rnd.IntN(3)], "main.start"+at))
		case n == 1:
			f.stop(g, "main.run"+at)
		case n == 2:
			f.enter(g, "syscall.Open"+at)
		case n == 3 && i > 0 && i < len(*mine):
			f.end(g)
		case n > 3 && g != others[0]:
			f.block(g, []exectrace.Reason{exectrace.WaitSync, exectrace.WaitSelect, exectrace.WaitSleep}[rnd.IntN(3)], "main.wait"+at)
		}
	}
}

// bringBack makes a goroutine run, whatever its state.
func (f *fake) bringBack(g, by exectrace.GIndex) {
	switch f.gs[g].State {
	case exectrace.Waiting:
		f.wake(g, nobody, "")
		f.start(g)
	case exectrace.Runnable:
		f.start(g)
	case exectrace.Syscall:
		f.leave(g)
	}
}

// TestLeaksLeaveRoom has requests leak more goroutines than are followed at a time, and checks that
// the goroutines of the next request are followed.
func TestLeaksLeaveRoom(t *testing.T) {
	f := newFake()
	g := f.connection()
	for range maxFollowed/maxFollowedOfOne + 1 {
		f.arrive(g, firstRead)
		for range maxFollowedOfOne {
			f.create(g, "main.leak", "main.handle:7"+serve)
		}
		f.answer(g)
	}
	f.arrive(g, firstRead)
	d := f.create(g, asks, spawn)
	f.after(5).start(d)
	f.after(5).block(g, exectrace.WaitSync, waits)
	f.after(5).block(d, exectrace.WaitSleep, "time.Sleep"+asking)
	f.after(500).wake(d, nobody, "")
	f.after(5).start(d)
	f.after(5).wake(g, d, "sync.(*WaitGroup).Done < "+asks)
	f.after(5).start(g)
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	res := f.fold(Options{Slowest: 100}).Result()
	for _, q := range res.Slowest {
		sums(t, q)
		if q.ID == res.Count && (part(q, WaitSleep) != 500+1 || part(q, WaitSync) != 0) {
			t.Errorf("the last request: %+v", q.Parts)
		}
	}
	if res.Count != maxFollowed/maxFollowedOfOne+2 {
		t.Errorf("found %d requests", res.Count)
	}
}

// TestCoroutinesOfARequest: the work of an iterator that a handler pulls from counts as the
// handler's.
func TestCoroutinesOfARequest(t *testing.T) {
	const n, values = 20, 3
	slow := func() iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range values {
				time.Sleep(time.Millisecond)
				if !yield(i) {
					return
				}
			}
		}
	}
	data := record(t, func() {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			next, stop := iter.Pull(slow())
			defer stop()
			for v, ok := next(); ok; v, ok = next() {
				fmt.Fprintln(w, v)
			}
		}))
		defer srv.Close()
		for range n {
			res, err := srv.Client().Get(srv.URL)
			if !answered(t, res, err) {
				return
			}
		}
	})
	f := New(Options{Paths: true, Slowest: n})
	read(t, data, f)
	res := f.Result()
	near(t, "requests", float64(res.Count), n, 0)
	for _, q := range res.Slowest {
		sums(t, q)
		contiguous(t, q.Path)
		var slept int64
		for _, s := range q.Path.Segments {
			if s.Part == WaitSleep {
				slept += s.Time
			}
		}
		if part(q, WaitOther) > part(q, WaitSleep)/2 || part(q, WaitSleep) < values*int64(time.Millisecond)/2 || slept < values*int64(time.Millisecond)/2 {
			t.Errorf("request %d: %+v; %d ns of sleep in its path", q.ID, q.Parts, slept)
		}
	}
	profiles(t, f, res)
}
