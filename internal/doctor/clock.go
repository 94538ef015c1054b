package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// clock is the resolution of the clock and the cost of reading it.
type clock struct {
	step time.Duration // smallest difference seen between two readings
	cost time.Duration // of one reading
}

// readClock reads the clock in short batches and uses the fastest one: the scheduler may have
// interrupted the others.
func readClock() clock {
	const batches, readings = 50, 200
	c := clock{step: time.Hour, cost: time.Hour}
	for range batches {
		start := time.Now()
		last := start
		for range readings {
			now := time.Now()
			if d := now.Sub(last); d > 0 {
				c.step = min(c.step, d)
			}
			last = now
		}
		c.cost = min(c.cost, last.Sub(start)/readings)
	}
	return c
}

// judgeClock matters because the load generator and many programs read the clock several times per
// request.
func judgeClock(c clock) Check {
	const name = "clock"
	detail := fmt.Sprintf("steps of %v, a reading costs %v", c.step, c.cost)
	switch {
	case c.step > 100*time.Microsecond:
		return warn(name, detail+": latencies below a few steps cannot be measured", "")
	case c.cost > 500*time.Nanosecond:
		return warn(name, detail+": programs that read the time often are slowed down",
			"choose a faster clock source (Linux: /sys/devices/system/clocksource/clocksource0)")
	}
	return ok(name, detail)
}

// lateness is how much too late sleeping goroutines woke, sorted.
type lateness []time.Duration

// readTimer sleeps for a millisecond many times, the usual gap of the load generator.
func readTimer(ctx context.Context) lateness {
	const naps, nap = 60, time.Millisecond
	var late lateness
	for range naps {
		if ctx.Err() != nil {
			break
		}
		start := time.Now()
		time.Sleep(nap)
		late = append(late, time.Since(start)-nap)
	}
	slices.Sort(late)
	return late
}

// judgeTimer matters because a request at a fixed rate is sent this much after it was due.
func judgeTimer(late lateness) Check {
	const name = "timers"
	if len(late) == 0 {
		return ok(name, "unknown: interrupted")
	}
	median, high := late[len(late)/2], late[len(late)*9/10]
	detail := fmt.Sprintf("1 ms sleeps end %v late (median), %v (one in ten)",
		median.Round(time.Microsecond), high.Round(time.Microsecond))
	if median > 500*time.Microsecond {
		return warn(name, detail+": load at a fixed rate is sent in bursts; hone load shows it as lag",
			"measure on a quieter machine, or not in a virtual one")
	}
	return ok(name, detail)
}
