package load

import (
	"fmt"
	"math"
	"time"
)

// Schedule says when each request is due. It is a function of the request's number alone, so a late
// request delays no other: nothing drifts, and a generator that was held up knows exactly what it owes.
type Schedule interface {
	// Due returns when request i, from 0, is due, counted from the start. It must not decrease with
	// i, and is called from several goroutines.
	Due(i int64) time.Duration
}

// ScheduleFunc is a function as a Schedule.
type ScheduleFunc func(i int64) time.Duration

// Due calls f.
func (f ScheduleFunc) Due(i int64) time.Duration { return f(i) }

// Constant is the schedule of a constant rate, in requests per second.
type Constant float64

// Due returns i divided by the rate. In a float64 that is exact to the nanosecond for 104 days, also
// for rates that do not divide a second.
func (c Constant) Due(i int64) time.Duration {
	ns := float64(i) / float64(c) * 1e9
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// maxRate is the highest rate that can be meant: a request a microsecond.
const maxRate = 1e6

func checkRate(rate float64) error {
	if !(rate >= 0) || rate > maxRate {
		return fmt.Errorf("rate %v: want 0 (flat out) to %.0f requests a second", rate, float64(maxRate))
	}
	return nil
}
