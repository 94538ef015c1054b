package load_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/hone-go/hone/load"
)

// A server that stalls a quarter of the time must be measured to stall a quarter of the time. Noise
// of the machine only delays answers: no quantile is below the server's own record, nor below what
// the schedule implies. A request that is due during a stall is answered after it. Of 150 requests
// in three periods, one is due in each millisecond of a stall, whenever the periods start.
func TestLatencyIsTrueUnderStalls(t *testing.T) {
	t.Parallel()
	const (
		rate   = 1000.0
		lasts  = 600 * time.Millisecond // a whole number of periods
		period = 200 * time.Millisecond
		stall  = 50 * time.Millisecond
	)
	s := &staller{start: time.Now(), period: period, stall: stall}
	srv := server(t, s)
	r := run(t, load.Options{Targets: targets(srv.URL), Rate: rate, MaxDuration: lasts, Connections: 4})
	if n := int64(rate * lasts.Seconds()); r.Requests+r.Missed != n || r.Latency.Count() != n {
		t.Fatalf("%d answered and %d missed, %d latencies; want %d of the schedule accounted for: %v",
			r.Requests, r.Missed, r.Latency.Count(), n, r.Errors)
	}
	for _, q := range []float64{0.5, 0.9, 0.99, 1} {
		got := time.Duration(r.Latency.Quantile(q))
		if truth := s.quantile(q); r.Missed == 0 && got < truth-truth/100 {
			t.Errorf("quantile %v: %v, below the server's own record of %v", q, got, truth)
		}
		share := float64(stall) / float64(period)
		owed := time.Duration((q - (1 - share)) / share * float64(stall))
		if got < owed-owed/100-2*time.Millisecond { // two: the stall may start between two requests
			t.Errorf("quantile %v: %v, the schedule owes %v", q, got, owed)
		}
	}
	// Latency is the generator's delay and the service's time, nothing else.
	latency, parts := r.Latency.Mean(), r.Lag.Mean()+r.Service.Mean()
	if math.Abs(latency-parts) > parts/50 {
		t.Errorf("mean latency %.0f ns, lag and service %.0f ns", latency, parts)
	}
}

// The same server with only as many connections as a closed loop would have: the load cannot keep
// its schedule, but the percentiles must include the wait.
func TestAtTheCapLatencyStillCountsFromTheSchedule(t *testing.T) {
	t.Parallel()
	s := &staller{start: time.Now(), period: 300 * time.Millisecond, stall: 150 * time.Millisecond}
	srv := server(t, s)
	r := run(t, load.Options{
		Targets: targets(srv.URL), Rate: 1000, MaxDuration: 600 * time.Millisecond,
		Connections: 2, MaxConnections: 2,
	})
	if r.OpenConns > 2 {
		t.Errorf("%d connections, want at most 2", r.OpenConns)
	}
	if r.Latency.Count() != 600 {
		t.Errorf("%d latencies, want one for each of 600 requests", r.Latency.Count())
	}
	// Half of the requests are due in stalls, and wait 75 ms on average.
	if p75 := time.Duration(r.Latency.Quantile(0.75)); p75 < 50*time.Millisecond {
		t.Errorf("latency p75 %v, want the wait of those that could not be sent", p75)
	}
	if r.Verdict != load.VerdictLimited {
		t.Errorf("verdict %q, want %q", r.Verdict, load.VerdictLimited)
	}
}

func TestUnansweredRequestsAreCounted(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	srv := server(t, hanging(hang))
	defer close(hang)
	r := run(t, load.Options{
		Targets: targets(srv.URL), Rate: 200, MaxDuration: 500 * time.Millisecond,
		Connections: 4, MaxConnections: 4,
	})
	if r.Requests != 0 || r.Missed != 100 {
		t.Errorf("%d answered, %d missed, want 0 and all 100", r.Requests, r.Missed)
	}
	// The first was due 1.5 seconds before the end, the last one second before it.
	if p50 := time.Duration(r.Latency.Quantile(0.5)); r.Latency.Count() != 100 || p50 < time.Second {
		t.Errorf("%d latencies with p50 %v, want 100 of at least the time that passed", r.Latency.Count(), p50)
	}
	if r.Verdict != load.VerdictLimited || r.VerdictWhy == "" {
		t.Errorf("verdict %q (%s), want %q and why", r.Verdict, r.VerdictWhy, load.VerdictLimited)
	}
}

func TestTimeoutsCountWithWhatWasWaited(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	srv := server(t, hanging(hang))
	defer close(hang)
	for _, rate := range []float64{0, 100} {
		r := run(t, load.Options{
			Targets: targets(srv.URL), Rate: rate, MaxRequests: 20, Connections: 20, Timeout: 100 * time.Millisecond,
		})
		if r.Errors[load.ErrTimeout] != 20 || r.Requests != 0 || r.Missed != 0 {
			t.Errorf("rate %v: errors %v, %d answered, %d missed; want 20 timeouts", rate, r.Errors, r.Requests, r.Missed)
		}
		if low := time.Duration(r.Service.Min()); low < 100*time.Millisecond {
			t.Errorf("rate %v: a request timed out after %v, want not before 100ms", rate, low)
		}
		if rate > 0 && r.Latency.Count() != 20 {
			t.Errorf("%d latencies, want the 20 timeouts in them", r.Latency.Count())
		}
	}
}

// The rate is that of the schedule, although answers arrive after the schedule's end.
func TestRateIsAsAsked(t *testing.T) {
	t.Parallel()
	srv := server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(150 * time.Millisecond)
	}))
	for _, o := range []load.Options{
		{Rate: 300, MaxDuration: 300 * time.Millisecond},
		{Rate: 300, MaxRequests: 90},
	} {
		o.Targets = targets(srv.URL)
		start := time.Now()
		r := run(t, o)
		// The last request is due 297 ms after the start and answered 150 ms later: if the rate
		// were counted up to the last answer, it would be lower. On a machine that stalls, requests
		// may be missed.
		if wall := time.Since(start); r.Requests+r.Missed != 90 || r.Elapsed < 299*time.Millisecond || r.Elapsed > wall-140*time.Millisecond {
			t.Errorf("%d answers, %d missed in %v of %v, want 90, without the wait for the last answers", r.Requests, r.Missed, r.Elapsed, wall)
		}
	}
}
