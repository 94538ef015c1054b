package requests

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// The stacks of fasthttp's connections.
const (
	serveFast   = " < github.com/valyala/fasthttp.(*Server).serveConn < github.com/valyala/fasthttp.(*workerPool).workerFunc < github.com/valyala/fasthttp.(*workerPool).getCh.func1"
	fastPeek    = "syscall.Read < net.(*conn).Read < bufio.(*Reader).Peek" + serveFast
	fastBody    = "syscall.Read < net.(*conn).Read < github.com/valyala/fasthttp.(*Request).ContinueReadBody" + serveFast
	fastHandler = " < main.handle:7" + serveFast
	fastFlush   = "syscall.Write < net.(*conn).Write < bufio.(*Writer).Flush" + serveFast
	fastIdles   = "runtime.chanrecv < github.com/valyala/fasthttp.(*workerPool).workerFunc < github.com/valyala/fasthttp.(*workerPool).getCh.func1"
)

// fastConnection creates the goroutine of a worker, running.
func (f *fake) fastConnection() exectrace.GIndex {
	g := f.create(nobody, "github.com/valyala/fasthttp.(*workerPool).workerFunc < github.com/valyala/fasthttp.(*workerPool).getCh.func1", "github.com/valyala/fasthttp.(*workerPool).getCh")
	f.after(5).start(g)
	return g
}

// fastArrive makes a connection wait for a request, and read it.
func (f *fake) fastArrive(g exectrace.GIndex) {
	f.call(g, 2, fastPeek)
	f.after(1).block(g, exectrace.WaitNetwork, fastPeek)
	f.after(500).wake(g, nobody, "")
	f.after(20).start(g)
	f.after(2).call(g, 10, fastPeek)
	f.after(5)
}

// TestWorkersOfFastHTTP follows a worker through two requests of a connection, the second without
// any event, and one request of the next connection.
func TestWorkersOfFastHTTP(t *testing.T) {
	f := newFake()
	g := f.fastConnection()
	f.fastArrive(g)
	f.after(100).block(g, exectrace.WaitSleep, "time.Sleep"+fastHandler)
	f.after(900).wake(g, nobody, "")
	f.after(50).start(g)
	f.after(30).call(g, 25, fastFlush)
	f.fastArrive(g)
	f.after(30).call(g, 25, fastFlush)
	f.call(g, 2, fastPeek) // the connection is closed
	f.after(1).block(g, exectrace.WaitChanReceive, fastIdles)
	f.after(4000).wake(g, nobody, "")
	f.after(10).start(g)
	f.fastArrive(g)
	f.after(70).block(g, exectrace.WaitSleep, "time.Sleep"+fastHandler)
	f.after(300).wake(g, nobody, "")
	f.after(50).start(g)
	f.after(30).call(g, 25, fastFlush)
	f.call(g, 2, fastPeek)
	f.after(1).block(g, exectrace.WaitNetwork, fastPeek)

	res := f.fold(Options{}).Result()
	if res.Count != 3 || len(res.Slowest) != 3 {
		t.Fatalf("found %d requests (%d cut, %d open), want 3", res.Count, res.Cut, len(res.Open))
	}
	for _, q := range res.Slowest {
		sums(t, q)
		want := map[int64]map[Part]int64{
			1: {WaitSleep: 900 + 1, ReadyWoken: 20 + 50 + 2, InSyscall: 10 + 25 + 2, WaitNetwork: 0, WaitChanReceive: 0},
			2: {WaitSleep: 0, ReadyWoken: 20 + 1, InSyscall: 10 + 25 + 2, WaitNetwork: 0, WaitChanReceive: 0},
			3: {WaitSleep: 300 + 1, ReadyWoken: 20 + 50 + 2, InSyscall: 10 + 25 + 2, WaitNetwork: 0, WaitChanReceive: 0},
		}[q.ID]
		for p, ns := range want {
			if got := part(q, p); got != ns {
				t.Errorf("request %d: %v takes %d ns, want %d", q.ID, p, got, ns)
			}
		}
	}
}

// TestContinuedRequestsOfFastHTTP: a request whose client asks before it sends the body is one
// request.
func TestContinuedRequestsOfFastHTTP(t *testing.T) {
	f := newFake()
	g := f.fastConnection()
	f.fastArrive(g)
	f.after(10).call(g, 25, fastFlush) // 100 Continue
	f.after(5).call(g, 10, fastBody)
	f.after(5).block(g, exectrace.WaitNetwork, fastBody)
	f.after(200).wake(g, nobody, "")
	f.after(20).start(g)
	f.after(2).call(g, 10, fastBody)
	f.after(40).block(g, exectrace.WaitSleep, "time.Sleep"+fastHandler)
	f.after(300).wake(g, nobody, "")
	f.after(50).start(g)
	f.after(30).call(g, 25, fastFlush)
	f.call(g, 2, fastPeek)
	f.after(1).block(g, exectrace.WaitNetwork, fastPeek)
	q := one(t, f)
	sums(t, q)
	for p, ns := range map[Part]int64{WaitNetwork: 200 + 1, WaitSleep: 300 + 1, InSyscall: 10 + 25 + 10 + 10 + 25 + 5} {
		if got := part(q, p); got != ns {
			t.Errorf("%v takes %d ns, want %d", p, got, ns)
		}
	}
	if q.Route != "main.handle" {
		t.Errorf("it is of %q", q.Route)
	}
}
