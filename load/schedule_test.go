package load

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Due must be i/rate to the nanosecond, without drift at large i.
func TestConstantDoesNotDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.001, maxRate).Draw(t, "rate")
		hours := rapid.Float64Range(0, 24*30).Draw(t, "hours")
		i := int64(hours * 3600 * rate)
		exact := new(big.Rat).SetInt64(i)
		exact.Quo(exact, new(big.Rat).SetFloat64(rate))
		exact.Mul(exact, big.NewRat(1e9, 1))
		want, _ := exact.Float64()
		got := Constant(rate).Due(i)
		if math.Abs(float64(got)-want) > 1 {
			t.Fatalf("request %d at %v/s is due after %d ns, want %.1f", i, rate, got, want)
		}
		if Constant(rate).Due(i+1) < got {
			t.Fatalf("request %d is due before request %d", i+1, i)
		}
	})
}

func TestConstantDoesNotOverflow(t *testing.T) {
	if got := Constant(1e-9).Due(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("the end of time is %v", got)
	}
	if got := Constant(1000).Due(0); got != 0 {
		t.Errorf("the first request is due at %v", got)
	}
}

func TestLanesShareTheScheduleInTurn(t *testing.T) {
	lanes := []lane{{targets: []int{0, 2, 3}}, {targets: []int{1, 4}}}
	seen := map[int64]int{}
	for i := range lanes {
		last := int64(-1)
		for j := range int64(10 * len(lanes[i].targets)) {
			n := lanes[i].index(j, 5)
			if n <= last {
				t.Fatalf("lane %d: request %d after %d", i, n, last)
			}
			last = n
			seen[n]++
		}
	}
	for i := range int64(50) {
		if seen[i] != 1 {
			t.Errorf("request %d is in %d lanes, want one", i, seen[i])
		}
	}
}

func TestSleeperWakesWhenDueAndNotBefore(t *testing.T) {
	stop := make(chan struct{})
	c := clock{time.Now()}
	s := newSleeper(c, stop)
	defer s.close()
	for _, d := range []time.Duration{-time.Second, 0, 300 * time.Microsecond, 5 * time.Millisecond} {
		due := c.now() + int64(d)
		if !s.until(due) {
			t.Fatal("stopped")
		}
		if now := c.now(); now < due {
			t.Errorf("woke %v too early", time.Duration(due-now))
		}
	}
	close(stop)
	if s.until(c.now() + int64(time.Hour)) {
		t.Error("went on waiting after the stop")
	}
}
