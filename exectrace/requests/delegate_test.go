package requests

import (
	"fmt"
	"io"
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

// TestHandlersBelowATimeout holds every part of a request whose handler runs on another goroutine against the time that
// that took, and against what it does while the request's own goroutine does not wait for it.
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
	f.after(40).block(g, exectrace.WaitSelect, "runtime.selectgo"+timed) // 40 + 1 of the call are beside the request
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

// TestHandlersThatAreTooLate lets a handler outlive its request and end in the next, which has one of its own.
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

// TestTimeoutsOfARealServer holds what a server does below http.TimeoutHandler, one in a timeout that is too short, against
// the same invariants, over HTTP/1 and HTTP/2.
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
							if err != nil {
								t.Error(err)
								return
							}
							io.Copy(io.Discard, res.Body)
							res.Body.Close()
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
			if got := parts[lockedName]; got[WaitSync] < n*2/3*int64(time.Millisecond) || got[WaitSleep] < n*2/3*2*int64(time.Millisecond) {
				t.Errorf("waits for the lock and sleeps below %s: %v of %v", lockedName, got, parts)
			}
			if got := parts[asleepName]; got[WaitSleep] < n/3*3*int64(time.Millisecond) || got[WaitSelect] != 0 {
				t.Errorf("sleeps below %s: %v of %v", asleepName, got, parts)
			}
		})
	}
}
