package queueing

import "math"

// Service is what was measured of a service whose requests queue for a lock. Times are in seconds.
type Service struct {
	// Clients is how many requests are under way at any time in a closed loop; 0 when requests
	// come at a rate that does not depend on the answers.
	Clients int
	// Rate is the number of requests a second.
	Rate float64
	// Response is the mean time of a request, from one request of a client to its next in a closed
	// loop (Clients/Rate).
	Response float64
	// Wait is the part of Response spent waiting for the lock.
	Wait float64
	// CPU is what a request takes of the processors, also in other processes that share them and
	// serve the same request, such as a load generator.
	CPU float64
	// Cores is how many processors there are for that.
	Cores float64
}

// Saved returns the share of Response, 0 to 1, that is saved when the lock is held for keep times as long (0: not at
// all), while everything else of the request stays: what was done under the lock is done
// without it. It is 0 for a service of which not enough is known.
func (s Service) Saved(keep float64) float64 {
	if !(s.Response > 0) || !(s.Wait > 0) || !(s.Rate > 0) {
		return 0
	}
	keep = math.Max(0, math.Min(1, keep))
	s.Wait = math.Min(s.Wait, s.Response)
	s.Cores = math.Max(s.Cores, 1)
	if s.Clients > 0 {
		return s.closed(keep)
	}
	return s.open(keep)
}

// Less returns the share of Response that is saved when requests no longer wait for a part of
// Wait, 0 to 1, whatever it is they wait for: in a closed loop the processors bound what that brings.
func (s Service) Less(part float64) float64 {
	if !(s.Response > 0) || !(s.Wait > 0) || !(s.Rate > 0) {
		return 0
	}
	wait := math.Max(0, math.Min(1, part)) * math.Min(s.Wait, s.Response)
	if s.Clients <= 0 {
		return wait / s.Response
	}
	s.Cores = math.Max(s.Cores, 1)
	n := s.network(0, 0)
	now, _ := n.solve(s.Clients)
	n.delay = math.Max(0, n.delay-wait)
	after, _ := n.solve(s.Clients)
	return s.bounded(after / now)
}

// open is for a fixed rate. With the mean number that queue, L = Rate×Wait (Little), the
// lock's utilisation is that of M/M/1 with the same queue, L = ρ²/(1-ρ). Held for f times as long
// the wait is Wait×f²(1-ρ)/(1-fρ). Who no longer queues for the lock may queue for a processor.
func (s Service) open(keep float64) float64 {
	queue := s.Rate * s.Wait
	busy := (math.Sqrt(queue*queue+4*queue) - queue) / 2
	wait := s.Wait * keep * keep * (1 - busy) / (1 - keep*busy)
	after := s.Response - s.Wait + wait + (1-keep)*s.erlang()
	return math.Max(0, 1-after/s.Response)
}

// erlang is the mean wait for one of the processors at a fixed rate (Erlang C), were there no lock. The number of
// processors is rounded down.
func (s Service) erlang() float64 {
	c := math.Floor(s.Cores)
	load := s.Rate * s.CPU // processors busy
	if load <= 0 {
		return 0
	}
	if load >= c {
		return s.Wait // they are the bottleneck: the queue moves
	}
	// Erlang B by its recursion, then C of it.
	b := 1.0
	for k := 1.0; k <= c; k++ {
		b = load * b / (k + load*b)
	}
	waits := b / (1 - load/c*(1-b))
	return waits * s.CPU / (c - load)
}

// closed solves for the time that the lock is held: the one for which the model has the measured
// wait. The model's own ratio is what is saved, so that its error in absolute times cancels.
func (s Service) closed(keep float64) float64 {
	low, high := 0.0, s.Response/float64(s.Clients)
	for range bisections {
		held := (low + high) / 2
		n := s.network(held, s.Wait)
		if _, wait := n.solve(s.Clients); wait < s.Wait {
			low = held
		} else {
			high = held
		}
	}
	n := s.network(low, s.Wait)
	now, _ := n.solve(s.Clients)
	n.delay += (1 - keep) * n.held
	n.held *= keep
	after, _ := n.solve(s.Clients)
	return s.bounded(after / now)
}

// bounded is the share saved when the response shrinks to a part of it, but not below the time in which the
// processors serve one request of each client.
func (s Service) bounded(part float64) float64 {
	least := float64(s.Clients) * s.CPU / s.Cores / s.Response
	return math.Max(0, 1-math.Max(part, least))
}
