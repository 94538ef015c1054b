package load_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/hone-go/hone/load"
)

// BenchmarkClosedLoop measures a request in a closed loop, with a net/http server in the same
// process; cpu-ns/op is the CPU of both sides.
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

// BenchmarkCut measures taking an interval.
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
