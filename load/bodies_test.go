package load

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestBodies: what a load says about the bodies of answers.
func TestBodies(t *testing.T) {
	var n atomic.Int64
	long := strings.Repeat("a long answer that stays the same\n", 4096)
	zipped := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, text)
		z.Close()
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/count":
			fmt.Fprint(w, n.Add(1))
		case "/none":
			http.NotFound(w, r)
		case "/short":
			zipped(w, `{"id":"1"}`)
		case "/long":
			zipped(w, long)
		default:
			fmt.Fprint(w, long)
		}
	}))
	defer srv.Close()
	tests := []struct {
		path string
		want Bodies
	}{
		{"/", Bodies{Answers: 10, Bytes: 10 * int64(len(long)), Compared: 9, Same: 9}},
		{"/count", Bodies{Answers: 10, Bytes: 11, Compared: 9}},
		{"/none", Bodies{}},
		{"/short", Bodies{Answers: 10, Compared: 9, Same: 9, Gzipped: 10, Short: 10, ShortPlain: 100}},
		{"/long", Bodies{Answers: 10, Compared: 9, Same: 9, Gzipped: 10}},
	}
	for _, test := range tests {
		for _, rate := range []float64{0, 500} {
			n.Store(0)
			g, err := Start(t.Context(), Options{
				Targets: []Target{{URL: srv.URL + test.path}}, Connections: 1, MaxConnections: int(min(rate, 1)), MaxRequests: 10, Rate: rate, Bodies: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			<-g.Done()
			got := *g.Stop().Bodies
			if test.want.Bytes == 0 {
				got.Bytes = 0 // as the compressor decides
			}
			got.ShortBytes = 0
			if got != test.want {
				t.Errorf("%s at rate %v: got %+v, want %+v", test.path, rate, got, test.want)
			}
		}
	}
	g, err := Start(t.Context(), Options{Targets: []Target{{URL: srv.URL}}, MaxRequests: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r := g.Stop(); r.Bodies != nil {
		t.Errorf("bodies %+v, which nobody asked for", r.Bodies)
	}
}
