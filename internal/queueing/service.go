package queueing

import "math"

// Service is the measurements of a service whose requests queue for a lock. Times are in seconds.
type Service struct {
	// Clients is the number of requests in progress at any time in a closed loop; 0 when the rate
	// of requests does not depend on the responses.
	Clients int
	// Rate is the number of requests per second.
	Rate float64
	// Response is the mean time of a request, from one request of a client to its next in a closed
	// loop (Clients/Rate).
	Response float64
	// Wait is the part of Response spent waiting for the lock.
	Wait float64
	// CPU is the CPU time of a request, including that of other processes that share the processors
	// and serve the same request, such as a load generator.
	CPU float64
	// Cores is the number of processors that they share.
	Cores float64
}

// Saved returns the share of Response, 0 to 1, that is saved when the lock is held for keep times
// as long (0: not at all) and the rest of the request does not change: the work that was done under
// the lock is done without it. It returns 0 if the measurements are incomplete.
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

// Less returns the share of Response, 0 to 1, that is saved when requests no longer spend a part of
// Wait (0 to 1) waiting, whatever they wait for. In a closed loop the processors bound the result.
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

// open computes Saved at a fixed rate. With the mean queue length L = Rate×Wait (Little), the
// lock's utilisation is that of M/M/1 with the same queue, L = ρ²/(1-ρ). When the lock is held for
// f times as long, the wait is Wait×f²(1-ρ)/(1-fρ). Requests that no longer queue for the lock may
// queue for a processor.
func (s Service) open(keep float64) float64 {
	queue := s.Rate * s.Wait
	busy := (math.Sqrt(queue*queue+4*queue) - queue) / 2
	wait := s.Wait * keep * keep * (1 - busy) / (1 - keep*busy)
	after := s.Response - s.Wait + wait + (1-keep)*s.erlang()
	return math.Max(0, 1-after/s.Response)
}

// erlang returns the mean wait for one of the processors at a fixed rate (Erlang C) if there were
// no lock. The number of processors is rounded down.
func (s Service) erlang() float64 {
	c := math.Floor(s.Cores)
	load := s.Rate * s.CPU // number of busy processors
	if load <= 0 {
		return 0
	}
	if load >= c {
		return s.Wait // the processors are the bottleneck: requests queue for them instead
	}
	// Erlang B by its recursion, then Erlang C from it.
	b := 1.0
	for k := 1.0; k <= c; k++ {
		b = load * b / (k + load*b)
	}
	waits := b / (1 - load/c*(1-b))
	return waits * s.CPU / (c - load)
}

// closed computes Saved in a closed loop. It searches for the time under the lock at which the
// model has the measured wait. The result is a ratio of two responses of the model, so the model's
// error in absolute times cancels.
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

// bounded returns the share saved when the response shrinks to part of it, but not below the time
// in which the processors serve one request of each client.
func (s Service) bounded(part float64) float64 {
	least := float64(s.Clients) * s.CPU / s.Cores / s.Response
	return math.Max(0, 1-math.Max(part, least))
}
