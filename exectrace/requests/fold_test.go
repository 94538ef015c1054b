package requests

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

const lock = "internal/sync.(*Mutex).lockSlow < sync.(*Mutex).Lock"

// one runs a trace with one request, and returns the request.
func one(t *testing.T, f *fake) Request {
	t.Helper()
	res := f.fold(Options{}).Result()
	if res.Count != 1 || len(res.Slowest) != 1 {
		t.Fatalf("found %d requests (%d cut, %d open), want 1", res.Count, res.Cut, len(res.Open))
	}
	return res.Slowest[0]
}

func part(q Request, p Part) int64 {
	for _, x := range q.Parts {
		if x.Part == p {
			return x.Time
		}
	}
	return 0
}

func TestOneRequestOfAConnection(t *testing.T) {
	f := newFake()
	g := f.connection()
	holder := f.create(nobody, "main.hold", "main.main")
	f.start(holder)
	f.arrive(g, firstRead)
	f.after(100).block(g, exectrace.WaitSync, lock+handler)
	f.after(900).wake(g, holder, "sync.(*Mutex).Unlock < main.hold:9")
	f.after(50).start(g)
	f.after(70)
	f.answer(g)
	f.after(1).call(g, 10, peek)
	f.after(1).block(g, exectrace.WaitNetwork, peek)
	q := one(t, f)

	if q.Protocol != HTTP1 || q.Route != "main.handle" || q.Goroutine != 100 {
		t.Errorf("it is %v %q of goroutine %d", q.Protocol, q.Route, q.Goroutine)
	}
	want := map[Part]int64{WaitSync: 900 + 1, ReadyWoken: 20 + 50 + 2, InSyscall: 10 + 30 + 2}
	for p, ns := range want {
		if got := part(q, p); got != ns {
			t.Errorf("%v takes %d ns, want %d", p, got, ns)
		}
	}
	if part(q, WaitNetwork) != 0 || part(q, WaitCond) != 0 {
		t.Errorf("waiting for the client's next request, or for the background read, is in it: %v", q.Parts)
	}
	w := q.Waits[0]
	if w.Object != "a sync.Mutex" || w.Waiter.Function != "main.handle" || w.Waiter.Line != 7 || w.Waker.Line != 9 {
		t.Errorf("its longest wait is %+v", w)
	}
	// From the creation of the background read to the last write.
	if want := int64(1 + 100 + 1 + 900 + 1 + 50 + 1 + 70 + 3); q.Handler != want {
		t.Errorf("its handler takes %d ns, want %d", q.Handler, want)
	}
	sums(t, q)
}

// sums checks what holds for every request.
func sums(t failer, q Request) {
	t.Helper()
	var total, waits, placed int64
	for _, p := range q.Parts {
		total += p.Time
		if p.Part.placed() {
			placed += p.Time
		}
		if p.Time < 0 {
			t.Errorf("request %d: %v takes %d ns", q.ID, p.Part, p.Time)
		}
	}
	for _, w := range q.Waits {
		waits += w.Time
	}
	if total != q.Latency || q.Queued+q.Head+q.Handler+q.After != q.Latency || waits != placed {
		t.Errorf("request %d takes %d ns: parts sum to %d, phases to %d+%d+%d+%d; waits to %d of %d",
			q.ID, q.Latency, total, q.Queued, q.Head, q.Handler, q.After, waits, placed)
	}
	if q.Queued < 0 || q.Head < 0 || q.Handler < 0 || q.After < 0 {
		t.Errorf("request %d: phases %d, %d, %d, %d", q.ID, q.Queued, q.Head, q.Handler, q.After)
	}
}

func TestNetworkWaitsAreNotBoundaries(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	const n = 5
	for range n { // the next request has already arrived: the read does not block
		f.after(50)
		f.answer(g)
		f.call(g, 10, peek)
		f.after(4).create(g, "net/http.(*connReader).backgroundRead", background)
	}
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	res := f.fold(Options{}).Result()
	if res.Count != n+1 {
		t.Errorf("found %d requests, want %d", res.Count, n+1)
	}
	for _, q := range res.Slowest {
		sums(t, q)
	}
}

func TestPipelinedRequests(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	const n = 3
	for i := range n - 1 { // the next request arrived with the last one: it is not read
		f.after(50).call(g, 30, flush)
		if i == 0 {
			f.after(4).create(g, "net/http.(*connReader).backgroundRead", background)
		} else {
			f.after(10).block(g, exectrace.WaitSync, lock+handler)
			f.after(10).wake(g, nobody, "")
			f.start(g)
		}
	}
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	res := f.fold(Options{}).Result()
	if res.Count != n || res.Cut != 0 {
		t.Errorf("found %d requests (%d cut), want %d", res.Count, res.Cut, n)
	}
	for _, q := range res.Slowest {
		sums(t, q)
	}
}

func TestWaitsWhileTheHeadIsParsedAreInside(t *testing.T) {
	headWaits(t, exectrace.WaitSync, "runtime.gcMarkDone < runtime.gcAssistAlloc")
	headWaits(t, exectrace.WaitChanReceive, "runtime.chanrecv1 < runtime.gcBgMarkStartWorkers < runtime.gcStart")
}

// headWaits parses a head that needs memory, and waits for the collector to get it.
func headWaits(t *testing.T, why exectrace.Reason, at string) {
	t.Helper()
	f := newFake()
	g := f.connection()
	f.call(g, 10, firstRead)
	f.after(5).block(g, why, at+" < net/http.readRequest < net/http.(*conn).readRequest"+serve)
	f.after(800).wake(g, nobody, "")
	f.after(100).start(g)
	f.after(5).create(g, "net/http.(*connReader).backgroundRead", background)
	f.after(9)
	f.answer(g)
	f.call(g, 10, peek)
	q := one(t, f)
	if part(q, WaitGC) != 801 || q.Head != 1+5+1+800+1+100+1+5 {
		t.Errorf("waits %d ns for the collector, of a head of %d", part(q, WaitGC), q.Head)
	}
	sums(t, q)
}

// readBody returns a request that waits 1000 ns at a stack that reads a body.
func readBody(t *testing.T, body string) Request {
	t.Helper()
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	f.call(g, 10, body)
	f.block(g, exectrace.WaitNetwork, body)
	f.after(1000).wake(g, nobody, "")
	f.start(g)
	f.call(g, 10, body)
	f.answer(g)
	f.call(g, 10, peek)
	return one(t, f)
}

// TestResponseBody: the body of a response is what another server sends, although net/http reads it
// like that of a request.
func TestResponseBody(t *testing.T) {
	const body = "syscall.Read < net.(*conn).Read < net/http.(*persistConn).Read < bufio.(*Reader).Read < net/http.(*body).Read < net/http.(*bodyEOFSignal).Read" + handler
	if q := readBody(t, body); q.Waits[0].Object != "the response of another server" {
		t.Errorf("waits for %q", q.Waits[0].Object)
	}
}

func TestBodyReadsAreInside(t *testing.T) {
	const body = "syscall.Read < net.(*conn).Read < net/http.(*connReader).Read < bufio.(*Reader).Read < net/http.(*body).Read" + handler
	q := readBody(t, body)
	if got := part(q, WaitNetwork); got != 1001 {
		t.Errorf("waits %d ns for its body, want 1001", got)
	}
	if q.Waits[0].Object != "the body of the request" {
		t.Errorf("waits for %q", q.Waits[0].Object)
	}
	sums(t, q)
}

func TestSlowClientsReadTheResponseInPieces(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	f.after(10).call(g, 5, flush)
	f.block(g, exectrace.WaitNetwork, flush)
	f.after(700).wake(g, nobody, "")
	f.start(g)
	f.answer(g)
	f.call(g, 10, peek)
	q := one(t, f)
	if got := part(q, WaitNetwork); got != 701 {
		t.Errorf("waits %d ns for the client, want 701", got)
	}
	sums(t, q)
}

func TestOpenAndCutRequests(t *testing.T) {
	f := newFake()
	g := f.old()
	f.block(g, exectrace.WaitSync, lock+handler) // of a request whose start was not seen
	f.after(10).wake(g, nobody, "")
	f.start(g)
	f.answer(g)
	f.arrive(g, peek)
	f.block(g, exectrace.WaitSync, lock+handler)
	f.after(5000)
	res := f.fold(Options{}).Result()
	if res.Count != 0 || res.Cut != 1 || len(res.Open) != 1 {
		t.Fatalf("found %d requests, %d cut, %d open; want 0, 1, 1", res.Count, res.Cut, len(res.Open))
	}
	q := res.Open[0]
	if part(q, WaitSync) != 5001 {
		t.Errorf("the open one waits %d ns for the lock", part(q, WaitSync))
	}
	sums(t, q)
}

func TestStreamsAreGoroutines(t *testing.T) {
	const run = "net/http.(*http2serverConn).runHandler"
	const at = " < main.(*API).list:3 < net/http.HandlerFunc.ServeHTTP < net/http.(*ServeMux).ServeHTTP < net/http.serverHandler.ServeHTTP < net/http.initALPNRequest.ServeHTTP < " + run
	f := newFake()
	g := f.create(nobody, run, "net/http.(*http2serverConn).processHeaders < net/http.(*http2serverConn).serve < net/http.(*conn).serve")
	f.after(30).start(g)
	f.after(10).block(g, exectrace.WaitChanReceive, "runtime.chanrecv1"+at)
	f.after(200).wake(g, nobody, "")
	f.start(g)
	f.after(10).block(g, exectrace.WaitSelect, "runtime.selectgo < net/http.(*http2responseWriter).handlerDone < "+run+".func2 < "+run)
	f.after(40).wake(g, nobody, "")
	f.start(g)
	f.after(5).end(g)
	q := one(t, f)
	if q.Protocol != HTTP2 || q.Route != "main.(*API).list" {
		t.Errorf("it is %v %q", q.Protocol, q.Route)
	}
	if q.Queued != 31 || q.After != 48 || part(q, ReadyCreated) != 31 {
		t.Errorf("before its handler %d ns, after it %d; parts %v", q.Queued, q.After, q.Parts)
	}
	sums(t, q)
}

// TestRoutesLackWhatHasNoName: the requests that are seen in their handler are not a random sample,
// and the result says so.
func TestRoutesLackWhatHasNoName(t *testing.T) {
	const run = "net/http.(*http2serverConn).runHandler"
	f := newFake()
	stream := func(handler string) {
		g := f.create(nobody, run, "net/http.(*http2serverConn).processHeaders < net/http.(*http2serverConn).serve < net/http.(*conn).serve")
		f.start(g)
		if handler != "" {
			f.block(g, exectrace.WaitSleep, "time.Sleep < "+handler+":3 < net/http.HandlerFunc.ServeHTTP < net/http.(*ServeMux).ServeHTTP < net/http.serverHandler.ServeHTTP < net/http.initALPNRequest.ServeHTTP < "+run)
			f.after(200).wake(g, nobody, "")
			f.start(g)
		}
		f.after(5).end(g)
	}
	stream("")
	if res := f.fold(Options{}).Result(); len(res.Notes) != 1 || strings.Contains(res.Notes[0], "quickest") {
		t.Errorf("no route has a name: %q", res.Notes)
	}
	stream("main.one")
	stream("main.two")
	res := f.fold(Options{}).Result()
	if len(res.Routes) != 3 || len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], "1 HTTP/2 requests did nothing") || !strings.HasSuffix(res.Notes[0], "usually the quickest.") {
		t.Errorf("%d routes, notes %q", len(res.Routes), res.Notes)
	}
}

func TestGRPC(t *testing.T) {
	const stream = "google.golang.org/grpc.(*Server).serveStreams.func2.1"
	const at = " < shop/store.(*Server).Put:9 < shop/pb._Store_Put_Handler < google.golang.org/grpc.(*Server).processUnaryRPC < google.golang.org/grpc.(*Server).handleStream"
	f := newFake()
	g := f.create(nobody, stream, "google.golang.org/grpc.(*Server).serveStreams.func2")
	f.start(g)
	f.after(10).block(g, exectrace.WaitSync, lock+at+" < "+stream)
	f.after(100).wake(g, nobody, "")
	f.start(g)
	f.end(g)
	quiet := f.create(nobody, stream, "google.golang.org/grpc.(*Server).serveStreams.func2")
	f.start(quiet)
	f.after(3).end(quiet)

	const worker = "google.golang.org/grpc.(*Server).serverWorker"
	w := f.create(nobody, worker, "google.golang.org/grpc.(*Server).initServerWorkers")
	f.start(w)
	for range 2 {
		f.block(w, exectrace.WaitChanReceive, "runtime.chanrecv2 < "+worker)
		f.after(50).wake(w, g, "")
		f.start(w)
		f.after(30)
	}
	f.block(w, exectrace.WaitChanReceive, "runtime.chanrecv2 < "+worker)
	res := f.fold(Options{}).Result()
	if res.Count != 4 || res.Cut != 0 {
		t.Errorf("found %d requests (%d cut), want 4", res.Count, res.Cut)
	}
	if len(res.Routes) != 1 || res.Routes[0].Name != "shop/pb.Store/Put" || res.Routes[0].Inferred != 3 {
		t.Errorf("routes: %+v", res.Routes)
	}
	for _, q := range res.Slowest {
		sums(t, q)
	}
}

// carries is the stack in which the goroutine of a net/http stream waits for gRPC.
const carries = "runtime.selectgo < google.golang.org/grpc/internal/transport.(*serverHandlerTransport).runStream < google.golang.org/grpc.(*Server).serveStreams < google.golang.org/grpc.(*Server).ServeHTTP < net/http.(*ServeMux).ServeHTTP < net/http.serverHandler.ServeHTTP < net/http.(*http2serverConn).runHandler"

// TestGRPCBelowNetHTTP counts a call once, although two goroutines serve it.
func TestGRPCBelowNetHTTP(t *testing.T) {
	f := newFake()
	g := f.create(nobody, "net/http.(*http2serverConn).runHandler", "net/http.(*http2serverConn).scheduleHandler")
	f.after(5).start(g)
	c := f.create(g, "google.golang.org/grpc.(*Server).serveStreams.func2.1", "google.golang.org/grpc.(*Server).serveStreams.func2 < google.golang.org/grpc.(*Server).ServeHTTP")
	f.after(5).block(g, exectrace.WaitSelect, carries)
	f.after(5).start(c)
	f.after(7).block(c, exectrace.WaitSleep, "time.Sleep < shop/pb._Store_Put_Handler < google.golang.org/grpc.(*Server).processUnaryRPC < google.golang.org/grpc.(*Server).handleStream < google.golang.org/grpc.(*Server).serveStreams.func2.1")
	f.after(500).wake(c, nobody, "")
	f.after(5).start(c)
	f.after(5).wake(g, c, "google.golang.org/grpc/internal/transport.(*serverHandlerTransport).do")
	f.after(5).end(c)
	f.after(5).start(g)
	f.after(5).end(g)
	q := one(t, f)
	if q.Protocol != GRPC || q.Route != "shop/pb.Store/Put" {
		t.Errorf("it is %v %q", q.Protocol, q.Route)
	}
	sums(t, q)
}

// TestWorkersThatWereIdle finds the first request of a worker that was idle in the previous
// generation.
func TestWorkersThatWereIdle(t *testing.T) {
	f := newFake()
	g := exectrace.GIndex(len(f.gs))
	f.gs = append(f.gs, exectrace.Goroutine{ID: 7})
	const idles = "runtime.chanrecv < google.golang.org/grpc.(*Server).serverWorker"
	f.change(exectrace.GoStatus, g, nobody, exectrace.Waiting, exectrace.ReasonNone, idles)
	f.gs[g].Left = f.stack(idles)
	f.after(100).wake(g, nobody, "")
	f.after(20).start(g)
	f.after(5).block(g, exectrace.WaitSleep, "time.Sleep < shop/pb._Store_Put_Handler < google.golang.org/grpc.(*Server).handleStream < google.golang.org/grpc.(*Server).serverWorker")
	f.after(500).wake(g, nobody, "")
	f.after(5).start(g)
	f.after(5).block(g, exectrace.WaitChanReceive, idles)
	q := one(t, f)
	if want := int64(20 + 5 + 500 + 5 + 5 + 5); q.Latency != want {
		t.Errorf("it takes %d ns, want %d", q.Latency, want)
	}
	sums(t, q)
}

func TestTasksOutsideRequests(t *testing.T) {
	f := newFake()
	g := f.create(nobody, "main.worker", "main.main")
	f.start(g)
	f.mark(exectrace.TaskBegin, g, 7, "main.worker:2", "job")
	f.after(10)
	f.mark(exectrace.RegionBegin, g, 7, "main.worker:3", "load")
	f.block(g, exectrace.WaitSleep, "time.Sleep < main.worker:4")
	f.after(100).wake(g, nobody, "")
	f.start(g)
	f.mark(exectrace.RegionEnd, g, 7, "main.worker:5", "load")
	f.mark(exectrace.TaskEnd, g, 7, "main.worker:6", "")
	f.after(1000)
	q := one(t, f)
	if q.Protocol != Task || q.Route != "job" || part(q, WaitSleep) != 101 {
		t.Errorf("it is %v %q: %v", q.Protocol, q.Route, q.Parts)
	}
	if len(q.Regions) != 1 || q.Regions[0].Name != "load" || q.Regions[0].Time != 104 {
		t.Errorf("its regions are %v", q.Regions)
	}
	sums(t, q)
}

func TestWorldStoppedWhileReady(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	f.after(10).stop(g, "main.loop"+handler)
	f.put(exectrace.Event{Kind: exectrace.STWBegin, G: nobody, By: nobody, P: -1})
	f.after(99)
	f.put(exectrace.Event{Kind: exectrace.STWEnd, G: nobody, By: nobody, P: -1})
	f.after(8).start(g)
	f.answer(g)
	f.call(g, 10, peek)
	q := one(t, f)
	if part(q, Stopped) != 100 || part(q, ReadyPreempted) != 10 {
		t.Errorf("stopped %d ns, ready %d; want 100 and 10", part(q, Stopped), part(q, ReadyPreempted))
	}
	sums(t, q)
}

// failer has the methods that *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

func TestNothingGoesOnOverAGap(t *testing.T) {
	f := newFake()
	g := f.connection()
	f.arrive(g, firstRead)
	f.block(g, exectrace.WaitSync, lock+handler)
	f.after(1000)
	f.put(exectrace.Event{Kind: exectrace.Gap, G: nobody, By: nobody, P: -1})
	f.gs[g].State = exectrace.Unknown
	f.change(exectrace.GoStatus, g, nobody, exectrace.Running, exectrace.ReasonNone, "")
	f.after(5)
	f.answer(g) // of the previous request
	f.arrive(g, peek)
	f.answer(g)
	f.call(g, 10, peek)
	f.block(g, exectrace.WaitNetwork, peek)
	res := f.fold(Options{Paths: true}).Result()
	if res.Count != 1 || res.Cut != 2 { // its start and its end, which nothing identifies as one request
		t.Errorf("found %d requests, %d cut; want 1 and 2", res.Count, res.Cut)
	}
	for _, q := range res.Slowest {
		sums(t, q)
		contiguous(t, q.Path)
	}
}

// find returns the request with an ID, from the slowest or the open ones.
func find(t *testing.T, r *Result, id int64) *Request {
	t.Helper()
	for _, list := range [][]Request{r.Slowest, r.Open} {
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
	}
	t.Fatalf("no request %d", id)
	return nil
}
