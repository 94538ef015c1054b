package requests

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requestlog"
	"github.com/hone-go/hone/histogram"
)

// handled is what the handlers log about themselves, in the same trace.
type handled struct {
	open  map[exectrace.GIndex]int64
	spans map[uint64][]span // by goroutine, in order of time
	times *histogram.Histogram
}

// span is the time between two logs of a handler.
type span struct{ begin, end int64 }

func newHandled() *handled {
	return &handled{map[exectrace.GIndex]int64{}, map[uint64][]span{}, histogram.New()}
}

func (o *handled) Events(t *exectrace.Trace, b *exectrace.Block) {
	for _, i := range b.Rare {
		e := &b.Events[i]
		if e.Kind != exectrace.Log {
			continue
		}
		switch t.Message(e) {
		case "begin":
			o.open[e.G] = e.Time
		case "end":
			goid := t.Goroutine(e.G).ID
			o.spans[goid] = append(o.spans[goid], span{o.open[e.G], e.Time})
			o.times.Record(e.Time - o.open[e.G])
			delete(o.open, e.G)
		}
	}
}

func (o *handled) End(*exectrace.Trace) {}

// agree fails unless each call of a handler has one request whose time in the handler contains the
// call. The excess must be small for most requests: the machine may preempt between an event and
// its log, but not in every other request.
func agree(t *testing.T, requests []Request, o *handled) {
	t.Helper()
	byGoroutine := map[uint64][]Request{}
	for _, q := range requests {
		byGoroutine[q.Goroutine] = append(byGoroutine[q.Goroutine], q)
	}
	if len(byGoroutine) != len(o.spans) {
		t.Errorf("requests on %d goroutines, logs on %d", len(byGoroutine), len(o.spans))
	}
	for goid, spans := range o.spans {
		list := byGoroutine[goid]
		slices.SortFunc(list, func(a, b Request) int { return cmp.Compare(a.Begin, b.Begin) })
		if len(list) != len(spans) {
			t.Errorf("goroutine %d: %d requests, the handlers logged %d", goid, len(list), len(spans))
			continue
		}
		for i, q := range list {
			begin := q.Begin + q.Queued + q.Head
			if end := begin + q.Handler; begin > spans[i].begin || end < spans[i].end {
				t.Errorf("request %d of goroutine %d: in its handler from %d to %d, logged from %d to %d", i, goid, begin, end, spans[i].begin, spans[i].end)
			}
		}
	}
}

// shop is a service whose handlers log, work, and sometimes wait for a lock.
type shop struct {
	mu    sync.Mutex
	n     int
	stock [32 << 10]byte
}

// work takes so long that the code between log and server does not matter: the start of the
// background read, which may wake a thread, routing, and the head of the response.
func (s *shop) work() [sha256.Size]byte {
	time.Sleep(3 * time.Millisecond)
	return sha256.Sum256(s.stock[:])
}

func (s *shop) handleCount(w http.ResponseWriter, r *http.Request) {
	trace.Log(r.Context(), "oracle", "begin")
	defer trace.Log(r.Context(), "oracle", "end")
	sum := s.work()
	s.mu.Lock()
	s.n++
	n := s.n
	if n%40 == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	s.mu.Unlock()
	fmt.Fprintf(w, "%d %x", n, sum)
}

func (s *shop) handleOrder(w http.ResponseWriter, r *http.Request) {
	trace.Log(r.Context(), "oracle", "begin")
	defer trace.Log(r.Context(), "oracle", "end")
	h := sha256.New()
	sum := s.work()
	h.Write(sum[:])
	n, err := io.Copy(h, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Write(bytes.Repeat([]byte("order "), int(n)%20000))
}

func (s *shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /count", s.handleCount)
	mux.Handle("POST /order", logging(http.HandlerFunc(s.handleOrder)))
	return mux
}

// logging is a middleware.
func logging(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
}

// drive sends n requests over some connections, one in ten with a body.
func drive(t *testing.T, srv *httptest.Server, connections, n int) {
	t.Helper()
	var wg sync.WaitGroup
	client := srv.Client()
	client.Transport.(*http.Transport).MaxConnsPerHost = connections
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = connections
	for range connections {
		wg.Go(func() {
			for i := range n / connections {
				var res *http.Response
				var err error
				if i%10 == 9 {
					res, err = client.Post(srv.URL+"/order", "text/plain", strings.NewReader(strings.Repeat("x", 9000)))
				} else {
					res, err = client.Get(srv.URL + "/count")
				}
				if !answered(t, res, err) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// answered reads a response to its end.
func answered(t *testing.T, res *http.Response, err error) bool {
	if err != nil {
		t.Error(err)
		return false
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return true
}

// record traces f.
func record(t *testing.T, f func()) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Skip("tracing is on already:", err)
	}
	f()
	trace.Stop()
	return buf.Bytes()
}

func read(t *testing.T, data []byte, folds ...exectrace.Fold) {
	t.Helper()
	if _, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, folds...); err != nil {
		t.Fatal(err)
	}
}

// near fails unless got is within a share of want.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %g, want %g within %g %%", what, got, want, 100*share)
	}
}

func TestAgreesWithTheLogOfTheServer(t *testing.T) {
	for _, connections := range []int{1, 8, 64} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			n := min(640, 160*connections)
			data := record(t, func() {
				srv := httptest.NewUnstartedServer(new(shop).handler())
				srv.Listener = requestlog.Listener{Listener: srv.Listener}
				srv.Start()
				defer srv.Close()
				drive(t, srv, connections, n)
			})
			oracle, log := newHandled(), requestlog.New()
			f := New(Options{Paths: true, Slowest: n})
			read(t, data, f, oracle, log)
			res := f.Result()
			if oracle.times.Count() != int64(n) {
				t.Fatalf("the server logged %d requests, want %d", oracle.times.Count(), n)
			}
			want, served := oracle.times.Summary(), log.Served().Summary()
			if res.Count != int64(n) || served.Count != int64(n) {
				t.Fatalf("%d requests, %d on connections, want %d", res.Count, served.Count, n)
			}
			agree(t, res.Slowest, oracle)
			near(t, "p50 of handlers", res.All.Handler.P50, want.P50, 0.2)
			near(t, "p50", res.All.Served.P50, served.P50, 0.05)
			t.Logf("%d requests, p50 %.3g of %.3g s, p99 %.3g of %.3g s", res.Count, res.All.Handler.P50, want.P50, res.All.Handler.P99, want.P99)
			for _, q := range res.Slowest {
				sums(t, q)
				contiguous(t, q.Path)
			}
			profiles(t, f, res)
			names := map[string]int64{}
			for _, r := range res.Routes {
				names[r.Name] = r.Count
			}
			const pkg = "github.com/hone-go/hone/exectrace/requests.(*shop)."
			near(t, "handleCount", float64(names[pkg+"handleCount"]), float64(n)*9/10, 0.001)
			near(t, "handleOrder", float64(names[pkg+"handleOrder"]), float64(n)/10, 0.001)
			if t.Failed() {
				t.Log(names)
			}
		})
	}
}

func TestHTTP2AgreesWithTheLogOfTheServer(t *testing.T) {
	const n = 320
	data := record(t, func() {
		srv := httptest.NewUnstartedServer(new(shop).handler())
		srv.EnableHTTP2 = true
		srv.StartTLS()
		defer srv.Close()
		drive(t, srv, 8, n)
	})
	f, oracle := New(Options{Slowest: n}), newHandled()
	read(t, data, f, oracle)
	res := f.Result()
	if len(res.Protocols) != 1 || res.Protocols[0].Protocol != HTTP2 {
		t.Fatalf("protocols: %+v", res.Protocols)
	}
	if res.Count != n {
		t.Fatalf("%d requests, want %d", res.Count, n)
	}
	agree(t, res.Slowest, oracle)
	near(t, "p50", res.All.Handler.P50, oracle.times.Summary().P50, 0.2)
	for _, q := range append(res.Slowest, res.Open...) {
		sums(t, q)
	}
}

func TestTLSAgreesWithTheLogOfTheServer(t *testing.T) {
	const n = 320
	data := record(t, func() {
		srv := httptest.NewTLSServer(new(shop).handler())
		defer srv.Close()
		drive(t, srv, 8, n)
	})
	f, oracle := New(Options{Slowest: n}), newHandled()
	read(t, data, f, oracle)
	res := f.Result()
	if res.Count != n {
		t.Fatalf("%d requests, want %d", res.Count, n)
	}
	agree(t, res.Slowest, oracle)
	near(t, "p50", res.All.Handler.P50, oracle.times.Summary().P50, 0.2)
}

// profiles checks that the profile for pprof shows the same as the result.
func profiles(t *testing.T, f *Fold, res *Result) {
	t.Helper()
	wall, err := f.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if got := wall.Total(1); got != res.All.Time {
		t.Errorf("the profile sums to %d ns, the requests to %d", got, res.All.Time)
	}
	for i := range res.Routes {
		checkPlaces(t, &res.Routes[i])
	}
	cpu, err := f.CPUProfile()
	if err != nil {
		t.Fatal(err)
	}
	if got := cpu.Total(0); got != f.CPU().Samples {
		t.Errorf("the profile has %d samples, the trace %d", got, f.CPU().Samples)
	}
	if run := f.RunPath(); run == nil {
		t.Error("the run has no path")
	} else {
		contiguous(t, run)
	}
}
