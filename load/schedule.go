package load

import (
	"fmt"
	"math"
	"time"
)

// Schedule determines when each request is due. The time is a function of the request's number
// alone, so a late request delays no other request.
type Schedule interface {
	// Due returns when request i, from 0, is due, as time since the start. It must not decrease
	// with i. It is called from several goroutines.
	Due(i int64) time.Duration
}

// ScheduleFunc is an adapter to use a function as a Schedule.
type ScheduleFunc func(i int64) time.Duration

// Due returns f(i).
func (f ScheduleFunc) Due(i int64) time.Duration { return f(i) }

// Constant is the schedule of a constant rate, in requests per second.
type Constant float64

// Due returns i divided by the rate. It is exact to the nanosecond for 104 days, also for rates
// that do not divide a second.
func (c Constant) Due(i int64) time.Duration {
	ns := float64(i) / float64(c) * 1e9
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// maxRate is the highest valid rate: a request per microsecond.
const maxRate = 1e6

func checkRate(rate float64) error {
	if !(rate >= 0) || rate > maxRate {
		return fmt.Errorf("rate %v: want 0 (closed loop) to %.0f requests a second", rate, float64(maxRate))
	}
	return nil
}
