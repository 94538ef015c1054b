package site

// mostYields is how many times the sweeper's other samples its yields take at most: 0.9 to 2.4
// times in nine recorded programs that allocate much (tools/field).
const mostYields = 4

// sweepYields charges to the sweeper what the scheduler does when a goroutine yields, if the
// sweeper may be the only goroutine that does. It yields after each span or every few spans
// (runtime.goschedIfBusy in mgcsweep.go), and the switch to the scheduler's stack (runtime.mcall)
// hides who yielded: those samples start at runtime.gosched_m. The scheduler reads the clock in
// them, for timers and for the states of goroutines. In a program that allocates large objects they
// are most of the sweeper's cost. A loop that calls runtime.Gosched may have no sample in that
// function either, but it yields far more often than the sweeper works.
func sweepYields(rows []charge) {
	var yields []charge
	var swept, yielded int64
	for _, c := range rows {
		for _, f := range c.row.Stack {
			switch f.Function {
			case "runtime.Gosched":
				return // the program yields, too
			case "runtime.bgsweep":
				swept += c.row.Count
			case "runtime.gosched_m":
				// Polling the network is not among them: some goroutine has to do it.
				if b := c.stack.bucket; b == BucketScheduler || b == bucketClock {
					yields = append(yields, c)
					yielded += c.row.Count
				}
			}
		}
	}
	if yielded > mostYields*swept {
		return
	}
	for _, c := range yields {
		c.stack.class, c.stack.bucket, c.stack.yields = Sweep, bucketSweep, true
		c.row.Class = Sweep
	}
}
