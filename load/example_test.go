package load_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/hone-go/hone/load"
)

func ExampleParseTargets() {
	ts, err := load.ParseTargets("DELETE http://127.0.0.1:8080/items/1", nil)
	fmt.Println(ts[0].Method, ts[0].URL, err)
	_, err = load.ParseTargets("ftp://127.0.0.1/", nil)
	fmt.Println(err)
	// Output:
	// DELETE http://127.0.0.1:8080/items/1 <nil>
	// load: URL "ftp://127.0.0.1/": cannot send ftp, only http and https
}

// Ten requests, at a hundred per second.
func ExampleStart() {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	g, err := load.Start(context.Background(), load.Options{
		Targets:     []load.Target{{URL: srv.URL + "/gone"}},
		Rate:        100,
		MaxRequests: 10,
	})
	if err != nil {
		log.Fatal(err)
	}
	<-g.Done()
	r := g.Stop()
	fmt.Println(r.Requests, "answers,", r.Status[404], "of them 404,", r.Latency.Count(), "latencies,", r.Missed, "missed")
	// Output: 10 answers, 10 of them 404, 10 latencies, 0 missed
}

// A rate that rises from 0 to 1,000 per second in ten seconds: after t seconds 50·t² requests were
// due, so request i is due after √(i/50) seconds.
func ExampleScheduleFunc() {
	ramp := load.ScheduleFunc(func(i int64) time.Duration {
		return time.Duration(math.Sqrt(float64(i)/50) * float64(time.Second))
	})
	for _, i := range []int64{0, 50, 200, 5000} {
		fmt.Println(i, ramp.Due(i))
	}
	o := load.Options{Targets: []load.Target{{URL: "http://127.0.0.1:8080/"}}, Schedule: ramp, MaxDuration: 10 * time.Second}
	_ = o // load.Start(ctx, o)
	// Output:
	// 0 0s
	// 50 1s
	// 200 2s
	// 5000 10s
}

// Orders with increasing numbers.
func ExampleTargeterFunc() {
	var mu sync.Mutex
	bodies := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		r.Body.Read(body)
		mu.Lock()
		defer mu.Unlock()
		bodies[r.URL.Path+" "+string(body)] = true
	}))
	defer srv.Close()
	g, err := load.Start(context.Background(), load.Options{
		Targeter: load.TargeterFunc(func(i int64) load.Target {
			return load.Target{Method: "POST", URL: fmt.Sprint(srv.URL, "/orders/", i), Body: fmt.Appendf(nil, `{"order":%d}`, i)}
		}),
		Rate:        500,
		MaxRequests: 100,
	})
	if err != nil {
		log.Fatal(err)
	}
	<-g.Done()
	r := g.Stop()
	mu.Lock()
	defer mu.Unlock()
	fmt.Println(r.Requests, "answers,", len(bodies), "different orders,", bodies[`/orders/99 {"order":99}`])
	// Output: 100 answers, 100 different orders, true
}
