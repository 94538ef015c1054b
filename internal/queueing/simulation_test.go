package queueing

import (
	"container/heap"
	"math/rand/v2"
)

// simulated is a service with known parameters. Times are means, in seconds, of exponential
// distributions.
type simulated struct {
	clients int     // of a closed loop
	rate    float64 // or requests per second
	cores   int
	outside float64 // on a processor before the lock is taken
	under   float64 // waiting for something else while holding the lock
	locked  float64 // on a processor while holding the lock
	think   float64 // until the client sends its next request
	besides float64 // within the response, without lock and processor
	fixed   bool    // all times are equal, except think
}

// observed is what a recording would show.
type observed struct{ response, wait, rate float64 }

// service is the input of the model.
func (c simulated) service(o observed) Service {
	return Service{Clients: c.clients, Rate: o.rate, Response: o.response, Wait: o.wait, CPU: c.outside + c.locked, Cores: float64(c.cores)}
}

// What a request does next.
const (
	arrive = iota
	compute
	lock
	hold
	computeLocked
	unlock
	pause
	done
)

// event is the arrival of a request at a step.
type event struct {
	at      float64
	order   int
	request *request
}

type request struct {
	step          int
	start, queued float64
	length        float64 // of the work that it queues for
}

type events []event

func (h events) Len() int { return len(h) }
func (h events) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *events) Push(x any)   { *h = append(*h, x.(event)) }
func (h *events) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// simulation runs a service event by event: first come, first served at processors and lock.
type simulation struct {
	simulated
	random  *rand.Rand
	next    events
	order   int
	now     float64
	idle    int // processors
	work    []*request
	held    bool
	waiting []*request

	count                 int
	first, response, wait float64
}

// run simulates twenty thousand requests after a warm-up.
func (c simulated) run() observed {
	const warm, all = 4_000, 24_000
	s := &simulation{simulated: c, random: rand.New(rand.NewPCG(3, 5)), idle: c.cores}
	for range max(1, c.clients) {
		s.in(0, &request{})
	}
	for s.count < all {
		e := heap.Pop(&s.next).(event)
		s.now = e.at
		s.step(e.request)
		if s.count == warm && s.first == 0 {
			s.first, s.response, s.wait = s.now, 0, 0
		}
	}
	n := float64(all - warm)
	rate := n / (s.now - s.first)
	response := s.response / n
	if c.clients > 0 {
		response = float64(c.clients) / rate
	}
	return observed{response: response, wait: s.wait / n, rate: rate}
}

// in plans a request's next step.
func (s *simulation) in(seconds float64, r *request) {
	s.order++
	heap.Push(&s.next, event{s.now + seconds, s.order, r})
}

func (s *simulation) draw(mean float64) float64 {
	if s.fixed {
		return mean
	}
	return mean * s.random.ExpFloat64()
}

func (s *simulation) step(r *request) {
	switch r.step {
	case arrive:
		if s.rate > 0 { // the one after it
			s.in(s.random.ExpFloat64()/s.rate, &request{})
		}
		r.start = s.now
		s.queue(r, compute, s.draw(s.outside))
	case compute:
		s.leave(r)
		r.step, r.queued = lock, s.now
		if s.held {
			s.waiting = append(s.waiting, r)
			return
		}
		s.held = true
		s.step(r)
	case lock:
		s.wait += s.now - r.queued
		r.step = hold
		s.in(s.draw(s.under), r)
	case hold:
		s.queue(r, computeLocked, s.draw(s.locked))
	case computeLocked:
		s.leave(r)
		r.step = unlock
		s.step(r)
	case unlock:
		if s.held = len(s.waiting) > 0; s.held {
			s.in(0, s.waiting[0])
			s.waiting = s.waiting[1:]
		}
		r.step = pause
		s.in(s.draw(s.besides), r)
	case pause:
		s.count++
		s.response += s.now - r.start
		if s.clients > 0 {
			r.step = arrive
			s.in(s.think*s.random.ExpFloat64(), r)
		}
	}
}

// queue waits for a processor, to reach a step after so many seconds on it.
func (s *simulation) queue(r *request, step int, seconds float64) {
	r.step, r.length = step, seconds
	switch {
	case seconds == 0:
		s.in(0, r)
	case s.idle == 0:
		s.work = append(s.work, r)
	default:
		s.idle--
		s.in(seconds, r)
	}
}

// leave passes a request's processor to the next in the queue.
func (s *simulation) leave(r *request) {
	switch {
	case r.length == 0:
	case len(s.work) == 0:
		s.idle++
	default:
		s.in(s.work[0].length, s.work[0])
		s.work = s.work[1:]
	}
}
