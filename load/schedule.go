package load

import (
	"fmt"
	"math"
	"time"
)

// Schedule says when each request is due. It is a pure function of the request's
// number, so a late request moves no other: nothing drifts, and a generator that
// was held up knows exactly what it owes.
type Schedule interface {
	// Due returns when request i (from 0) is to be sent, counted from the start.
	// It never decreases with i.
	Due(i int64) time.Duration
}

// Constant is the schedule of that many requests per second, evenly spaced.
type Constant float64

// Due returns i divided by the rate. A float64 keeps that exact to the
// nanosecond for 104 days, also for rates that do not divide a second.
func (c Constant) Due(i int64) time.Duration {
	ns := float64(i) / float64(c) * 1e9
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// maxRate is the highest rate that is taken for meant: a request a microsecond.
const maxRate = 1e6

func checkRate(rate float64) error {
	if !(rate >= 0) || rate > maxRate {
		return fmt.Errorf("rate %v: want 0 (flat out) to %.0f requests a second", rate, float64(maxRate))
	}
	return nil
}
