package load_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hone-go/hone/load"
)

// BenchmarkClosedLoop is the cost of a request, flat out, with that of a
// net/http server in the same process; cpu-ns/op is both sides' CPU.
func BenchmarkClosedLoop(b *testing.B) {
	srv := server(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("ok"))
	}))
	b.ReportAllocs()
	b.ResetTimer()
	g, err := load.Start(context.Background(), load.Options{
		Targets: targets(srv.URL), Connections: 16, MaxRequests: int64(b.N),
	})
	if err != nil {
		b.Fatal(err)
	}
	<-g.Done()
	r := g.Stop()
	if r.Requests != int64(b.N) {
		b.Fatalf("%d answers to %d requests: %v", r.Requests, b.N, r.Errors)
	}
	b.ReportMetric(r.CPUSeconds*1e9/float64(b.N), "cpu-ns/op")
}

// BenchmarkCut is the cost of taking an interval.
func BenchmarkCut(b *testing.B) {
	srv := server(b, http.NotFoundHandler())
	g, err := load.Start(context.Background(), load.Options{Targets: targets(srv.URL), Rate: 1000, Connections: 16})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Stop()
	b.ReportAllocs()
	for b.Loop() {
		g.Cut()
	}
}

func ExampleParseTargets() {
	ts, err := load.ParseTargets("DELETE http://127.0.0.1:8080/items/1", nil)
	fmt.Println(ts[0].Method, ts[0].URL, err)
	_, err = load.ParseTargets("ftp://127.0.0.1/", nil)
	fmt.Println(err)
	// Output:
	// DELETE http://127.0.0.1:8080/items/1 <nil>
	// load: URL "ftp://127.0.0.1/": cannot send ftp, only http and https
}

// A hundred requests a second for a tenth of a second.
func ExampleStart() {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	g, err := load.Start(context.Background(), load.Options{
		Targets:     []load.Target{{URL: srv.URL + "/gone"}},
		Rate:        100,
		MaxDuration: 100 * time.Millisecond,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-g.Done()
	r := g.Stop()
	fmt.Println(r.Requests, "answers,", r.Status[404], "of them 404,", r.Missed, "missed")
	// Output: 10 answers, 10 of them 404, 0 missed
}
