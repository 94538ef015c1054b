package queueing

import "math"

// bisections halve an interval to a millionth, which is more than any measurement gives.
const bisections = 20

// network is a closed network of a lock, the processors and a delay. Times are in seconds per request.
type network struct {
	held  float64 // of the lock
	work  float64 // of all processors together: CPU/Cores
	alone float64 // of one processor beyond that, without competition: CPU×(Cores-1)/Cores
	// delay is everything else. What is computed under the lock is in held as well as in work and
	// alone, so that it may be as much below zero.
	delay float64
}

// network returns the network with that time under the lock in which requests take the measured
// Response less a wait for everything but waiting for the lock.
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

// solve returns the mean time from one request of a client to its next, and the part of it spent waiting
// for the lock, by mean value analysis over 1 to n clients.
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
