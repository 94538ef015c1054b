package load_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/load"
)

// hanging does not answer until c is closed.
func hanging(c <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-c:
		case <-r.Context().Done():
		}
	})
}

// menu answers in every way that net/http's server supports, and counts its answers.
type menu struct{ asked atomic.Int64 }

func (m *menu) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.asked.Add(1)
	io.Copy(io.Discard, r.Body)
	switch r.URL.Path {
	case "/chunked":
		fmt.Fprint(w, "some")
		w.(http.Flusher).Flush()
		fmt.Fprint(w, strings.Repeat("more", 5000))
	case "/trailer":
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprint(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Sum", "1")
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/same":
		w.WriteHeader(http.StatusNotModified)
	case "/missing":
		http.NotFound(w, r)
	case "/close":
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "bye")
	case "/hints":
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, "late")
	default:
		fmt.Fprint(w, "ok")
	}
}

func (m *menu) targets(url string) []load.Target {
	var ts []load.Target
	for _, p := range []string{"/", "/chunked", "/trailer", "/none", "/same", "/missing", "/close", "/hints"} {
		ts = append(ts, load.Target{URL: url + p}, load.Target{Method: "HEAD", URL: url + p},
			load.Target{Method: "POST", URL: url + p, Body: []byte(strings.Repeat("b", 40000))})
	}
	return ts
}

// Both loops must count the same as an ordinary client.
func TestStatusesAreWhatNetHTTPSees(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		for _, rate := range []float64{0, 2000} {
			t.Run(fmt.Sprintf("tls=%v,rate=%v", secure, rate), func(t *testing.T) {
				m := &menu{}
				srv := quiet(m)
				trust := &tls.Config{}
				if secure {
					srv.StartTLS()
					trust.RootCAs = x509.NewCertPool()
					trust.RootCAs.AddCert(srv.Certificate())
				} else {
					srv.Start()
				}
				defer srv.Close()
				ts := m.targets(srv.URL)

				want := map[int]int64{}
				for _, target := range ts {
					req, err := http.NewRequest(target.Method, target.URL, strings.NewReader(string(target.Body)))
					if err != nil {
						t.Fatal(err)
					}
					res, err := srv.Client().Do(req)
					if err != nil {
						t.Fatal(err)
					}
					io.Copy(io.Discard, res.Body)
					res.Body.Close()
					want[res.StatusCode] += 5
				}
				m.asked.Store(0)

				r := run(t, load.Options{
					Targets: ts, Rate: rate, MaxRequests: int64(5 * len(ts)), Connections: 1,
					TLS: trust,
				})
				if d := cmp.Diff(want, r.Status); d != "" || len(r.Errors) > 0 {
					t.Errorf("status counts (-net/http +load):\n%s errors %v", d, r.Errors)
				}
				if m.asked.Load() != r.Requests || r.Requests != int64(5*len(ts)) {
					t.Errorf("the server was asked %d times, the load counts %d answers, want %d", m.asked.Load(), r.Requests, 5*len(ts))
				}
			})
		}
	}
}

func TestBytesAreCountedAsOnTheWire(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	var in atomic.Int64
	url := raw(t, func(req string) string {
		in.Add(int64(len(req)))
		return answer
	})
	for _, rate := range []float64{0, 1000} {
		in.Store(0)
		r := run(t, load.Options{Targets: targets(url), Rate: rate, MaxRequests: 50, Connections: 3})
		if r.BytesOut != in.Load() || r.BytesIn != 50*int64(len(answer)) {
			t.Errorf("rate %v: %d bytes out, %d in; the server got %d and sent %d", rate, r.BytesOut, r.BytesIn, in.Load(), 50*len(answer))
		}
	}
}

func TestErrorsAreCountedByKind(t *testing.T) {
	t.Parallel()
	const good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, c := range []struct {
		name, answer string
		kind         load.ErrorKind
	}{
		{"closes without an answer", "", load.ErrEOF},
		{"is not HTTP", "220 smtp ready\r\n", load.ErrMalformed},
		{"announces closing", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", ""},
		{"is HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", ""},
		{"talks too much", good + "?", ""},
	} {
		for _, rate := range []float64{0, 500} {
			t.Run(fmt.Sprintf("%s,rate=%v", c.name, rate), func(t *testing.T) {
				url := raw(t, func(string) string { return c.answer })
				r := run(t, load.Options{Targets: targets(url), Rate: rate, MaxRequests: 40, Connections: 4})
				want := map[load.ErrorKind]int64{}
				if c.kind != "" {
					want[c.kind] = 40
				}
				if d := cmp.Diff(want, r.Errors); d != "" || r.Requests+r.Failed() != 40 {
					t.Errorf("%d answers, errors (-want +got):\n%s", r.Requests, d)
				}
			})
		}
	}
}

// A server exits at its twentieth request: requests that are due later are refused.
func TestServerThatGoesAwayIsRefused(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 500} {
		var answered atomic.Int64
		twenty := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if answered.Add(1) == 20 {
				close(twenty)
			}
		}))
		o := load.Options{Targets: targets(srv.URL), Rate: rate, Connections: 4}
		if rate > 0 {
			o.MaxRequests = 200 // 0.4 s of them, by when the server has exited
		}
		g, err := load.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		<-twenty
		srv.CloseClientConnections()
		srv.Close()
		if rate > 0 {
			<-g.Done()
		} else {
			for g.Cut().Errors[load.ErrRefused] == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		r := g.Stop()
		if r.Errors[load.ErrRefused] == 0 || r.Requests == 0 {
			t.Errorf("rate %v: %d answers, errors %v, want some of both", rate, r.Requests, r.Errors)
		}
		if rate > 0 && r.Requests+r.Failed()+r.Missed != 200 {
			t.Errorf("%d answered, %v, %d missed: 200 were due", r.Requests, r.Errors, r.Missed)
		}
	}
}

// Every request is in exactly one Cut, whenever it starts and ends.
func TestCutsSumToTheWhole(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 3000} {
		t.Run(fmt.Sprintf("rate=%v", rate), func(t *testing.T) {
			m := &menu{}
			srv := server(t, m)
			g, err := load.Start(t.Context(), load.Options{
				Targets: targets(srv.URL+"/", srv.URL+"/missing", srv.URL+"/close"), Rate: rate,
				Connections: 8, MaxDuration: 300 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			var requests, in, service, latency int64
			status := map[int]int64{}
			var elapsed time.Duration
			add := func(r *load.Result) {
				requests += r.Requests
				in += r.BytesIn
				service += r.Service.Count()
				if r.Latency != nil {
					latency += r.Latency.Count()
				}
				for code, n := range r.Status {
					status[code] += n
				}
				elapsed += r.Elapsed
			}
			for running := true; running; {
				select {
				case <-g.Done():
					running = false
				case <-time.After(time.Millisecond):
				}
				add(g.Cut())
			}
			whole := g.Stop()
			if requests != m.asked.Load() || requests != whole.Requests || service != requests {
				t.Errorf("cuts hold %d requests and %d service times, the whole %d, the server saw %d", requests, service, whole.Requests, m.asked.Load())
			}
			if rate > 0 && (latency != 900 || whole.Latency.Count() != 900) {
				t.Errorf("cuts hold %d latencies, the whole %d, want 900", latency, whole.Latency.Count())
			}
			if in != whole.BytesIn || !maps.Equal(status, whole.Status) || elapsed != whole.Elapsed {
				t.Errorf("cuts: %d bytes, %v, %v; the whole: %d, %v, %v", in, status, elapsed, whole.BytesIn, whole.Status, whole.Elapsed)
			}
			if again := g.Stop(); again.Requests != whole.Requests || g.Cut().Requests != 0 {
				t.Errorf("a second Stop holds %d requests, the first %d", again.Requests, whole.Requests)
			}
		})
	}
}

func TestContextEndsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 500} {
		hang := make(chan struct{})
		srv := server(t, hanging(hang))
		ctx, cancel := context.WithCancel(t.Context())
		g, err := load.Start(ctx, load.Options{Targets: targets(srv.URL), Rate: rate, Connections: 5})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		cancel()
		select {
		case <-g.Done():
		case <-time.After(900 * time.Millisecond):
			t.Errorf("rate %v: not done 900 ms after the context ended", rate)
		}
		if r := g.Stop(); r.Missed < 5 || r.Requests != 0 {
			t.Errorf("rate %v: %d missed, %d answered, want what was under way missed", rate, r.Missed, r.Requests)
		}
		close(hang)
	}
}

func TestStopWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 100} {
		var began atomic.Int64
		srv := server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			began.Add(1)
			time.Sleep(100 * time.Millisecond)
		}))
		g, err := load.Start(t.Context(), load.Options{Targets: targets(srv.URL), Rate: rate, Connections: 5})
		if err != nil {
			t.Fatal(err)
		}
		for began.Load() < 8 { // the last of them have only just started
			time.Sleep(time.Millisecond)
		}
		r := g.Stop()
		if n := began.Load(); r.Missed != 0 || r.Failed() != 0 || r.Requests != n {
			t.Errorf("rate %v: %d of %d answered, %d missed, %v; want the slow ones answered", rate, r.Requests, n, r.Missed, r.Errors)
		}
	}
}

func TestTargetsGoOutInTurnToAllHosts(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 2000} {
		var a, b menu
		sa, sb := server(t, &a), server(t, &b)
		r := run(t, load.Options{
			Targets: targets(sa.URL+"/1", sb.URL+"/2", sa.URL+"/3"), Rate: rate, MaxRequests: 300, Connections: 3,
		})
		if r.Requests != 300 || rate > 0 && (a.asked.Load() != 200 || b.asked.Load() != 100) {
			t.Errorf("rate %v: %d answers, hosts got %d and %d; want 300, 200 and 100", rate, r.Requests, a.asked.Load(), b.asked.Load())
		}
		if a.asked.Load() < 150 || b.asked.Load() < 50 {
			t.Errorf("rate %v: hosts got %d and %d, want about 200 and 100", rate, a.asked.Load(), b.asked.Load())
		}
	}
}

func TestStartRefusesWhatCannotWork(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + ln.Addr().String()
	ln.Close()
	for _, c := range []struct {
		name string
		o    load.Options
		want string
	}{
		{"no targets", load.Options{}, "no targets"},
		{"scheme", load.Options{Targets: targets("ftp://127.0.0.1/x")}, "cannot send ftp, only http and https"},
		{"negative rate", load.Options{Targets: targets(dead), Rate: -1}, "rate -1"},
		{"huge rate", load.Options{Targets: targets(dead), Rate: 1e9}, "rate 1e+09"},
		{"negative timeout", load.Options{Targets: targets(dead), Timeout: -1}, "negative"},
		{"header", load.Options{Targets: []load.Target{{URL: dead, Header: [][2]string{{"A", "b\r\nC: d"}}}}}, "control character"},
		{"too many", load.Options{Targets: targets(dead), Connections: 1e6}, "more than this machine allows"},
		{"nobody there", load.Options{Targets: targets(dead)}, "connect to "},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := load.Start(t.Context(), c.o)
			if err == nil {
				g.Stop()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want one with %q", err, c.want)
			}
		})
	}
}

// A large request sets a write deadline; it must not outlive the request.
func TestTimeoutsDoNotReachIntoLaterRequests(t *testing.T) {
	t.Parallel()
	srv := server(t, &menu{})
	r := run(t, load.Options{
		Targets: []load.Target{
			{Method: "POST", URL: srv.URL, Body: make([]byte, 100_000)},
			{URL: srv.URL},
		},
		Rate: 2, MaxRequests: 2, Connections: 1, MaxConnections: 1, Timeout: 450 * time.Millisecond,
	})
	if r.Requests != 2 {
		t.Errorf("%d answers of 2, errors %v", r.Requests, r.Errors)
	}
}
