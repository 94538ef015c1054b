package queueing

import "math"

// bisections is the number of steps of a bisection. They narrow an interval to a millionth, which
// is more precise than any measurement.
const bisections = 20

// network is a closed network of a lock, processors and a delay. Times are in seconds per request.
type network struct {
	held  float64 // at the lock
	work  float64 // at all processors together: CPU/Cores
	alone float64 // on one processor in addition, without competition: CPU×(Cores-1)/Cores
	// delay is everything else. Computation under the lock is included in held and in work and
	// alone, so delay may be negative by that much.
	delay float64
}

// network returns the network with a given time under the lock in which requests take the measured
// Response minus wait, not counting the time waiting for the lock.
func (s Service) network(held, wait float64) network {
	n := network{held: held, work: s.CPU / s.Cores, alone: s.CPU * (s.Cores - 1) / s.Cores}
	low, high := -math.Min(held, s.CPU), s.Response
	for range bisections {
		n.delay = (low + high) / 2
		if response, waiting := n.solve(s.Clients); response-waiting < s.Response-wait {
			low = n.delay
		} else {
			high = n.delay
		}
	}
	n.delay = low
	return n
}

// solve returns the mean time from one request of a client to its next, and the part of it spent
// waiting for the lock, by mean value analysis over 1 to clients clients.
func (n *network) solve(clients int) (response, wait float64) {
	var locked, working float64 // mean numbers of requests at the lock and at the processors
	for k := 1; k <= clients; k++ {
		atLock, atWork := n.held*(1+locked), n.work*(1+working)
		response = math.Max(atLock+atWork+n.alone+n.delay, math.SmallestNonzeroFloat64)
		rate := float64(k) / response
		locked, working = rate*atLock, rate*atWork
		wait = atLock - n.held
	}
	return response, wait
}
