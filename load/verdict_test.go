package load

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/histogram"
)

func constant(d time.Duration) *histogram.Histogram {
	h := histogram.New()
	h.RecordN(int64(d), 1000)
	return h
}

func TestVerdict(t *testing.T) {
	cores := float64(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		name string
		r    Result
		want []string // words of the reason; none: ok
	}{
		{"on time", Result{Latency: constant(20 * time.Millisecond), Lag: constant(50 * time.Microsecond), due: 1000, sent: 1000}, nil},
		{"lag below a millisecond does not matter", Result{Latency: constant(time.Millisecond), Lag: constant(900 * time.Microsecond)}, nil},
		{"lag below a tenth does not matter", Result{Latency: constant(300 * time.Millisecond), Lag: constant(20 * time.Millisecond)}, nil},
		{"late", Result{Latency: constant(20 * time.Millisecond), Lag: constant(12 * time.Millisecond)}, []string{"lag p99 12ms", "do not trust latencies below 12ms"}},
		{"not sent", Result{Latency: constant(time.Millisecond), Lag: constant(0), due: 1000, sent: 900}, []string{"only 90 % of the requests"}},
		{"at the cap", Result{Latency: constant(time.Millisecond), Lag: constant(0), due: 1000, sent: 500, capped: 400, OpenConns: 7}, []string{"50 %", "every one of the 7 connections"}},
		{"out of CPU", Result{Closed: true, Service: constant(time.Millisecond), Elapsed: time.Second, CPUSeconds: cores * 0.95}, []string{"processors"}},
		{"closed loop", Result{Closed: true, Service: constant(time.Millisecond), Elapsed: time.Second, CPUSeconds: cores * 0.5}, nil},
		{"nothing happened", Result{Latency: histogram.New(), Lag: histogram.New()}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.r.judge()
			if ok := c.r.Verdict == VerdictOK; ok != (c.want == nil) || ok != (c.r.VerdictWhy == "") {
				t.Fatalf("verdict %q because %q", c.r.Verdict, c.r.VerdictWhy)
			}
			for _, w := range c.want {
				if !strings.Contains(c.r.VerdictWhy, w) {
					t.Errorf("because %q, want %q in it", c.r.VerdictWhy, w)
				}
			}
		})
	}
}

func TestRoundKeepsTwoFigures(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0s", 7: "7ns", 12345678: "12.3ms", 1234567: "1.23ms", 1500 * time.Microsecond: "1.5ms", 90 * time.Second: "1m30s",
	} {
		if got := round(in).String(); got != want {
			t.Errorf("round(%d) = %s, want %s", in, got, want)
		}
	}
}
