package site

// sweepYields charges to the sweeper what the scheduler does when a goroutine yields, if the sweeper
// is the only one that does. It yields after each span or few (runtime.goschedIfBusy in
// mgcsweep.go), and the switch to the scheduler's stack (runtime.mcall) hides who yielded: those
// samples begin at runtime.gosched_m. In a program that allocates large objects they are most of
// the sweeper's cost.
func sweepYields(rows []charge) {
	swept := false
	var yields []charge
	for _, c := range rows {
		for _, f := range c.row.Stack {
			switch f.Function {
			case "runtime.Gosched":
				return // the program yields, too
			case "runtime.bgsweep":
				swept = true
			case "runtime.gosched_m":
				if c.stack.bucket == BucketScheduler { // and not polling the network, which has to be done by somebody
					yields = append(yields, c)
				}
			}
		}
	}
	if !swept {
		return
	}
	for _, c := range yields {
		c.stack.class, c.stack.bucket, c.stack.yields = Sweep, bucketSweep, true
		c.row.Class = Sweep
	}
}
