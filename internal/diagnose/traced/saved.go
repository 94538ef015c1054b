package traced

import (
	"cmp"
	"math"
	"slices"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/queueing"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

const (
	// keptUp is the minimum part of a rate that a service must answer to keep up with it.
	keptUp = 0.95
	// busyOthers is the minimum share of the machine taken by other processes that may also take
	// what the service leaves idle.
	busyOthers = 0.15
	// sharing is how much more CPU a request may take when more of them run at a time, since they
	// share caches: in four services whose lock was removed, 0.97 to 1.08 times as much where the
	// scheduler had little to do.
	sharing = 1.1
	// fewRequests in a trace have no reliable mean.
	fewRequests = 20
)

// Service is a service under load, as the queueing model needs it, with bounds for what is not
// known exactly.
type Service struct {
	queueing.Service
	leastCPU   float64 // per request, in seconds, if no goroutine has to be put to sleep and woken (see switching)
	mostCores  float64 // when other processes leave the machine to the program
	leastCores float64 // when they take all that it leaves idle
}

// ServiceOf returns the service of the recording; nil when it was not under load, or too little is
// known. Its Wait is left to the caller.
func ServiceOf(p *rule.Pass) *Service {
	m := p.Manifest
	if m == nil || m.Load == nil {
		return nil
	}
	ph, ok := p.Phase(recording.PhaseClean)
	if !ok || ph.Requests == 0 {
		ph, ok = p.Phase(recording.PhaseCPU)
	}
	if !ok || ph.Requests == 0 || ph.Seconds <= 0 || ph.CPUSeconds <= 0 {
		return nil
	}
	l := &Service{Service: queueing.Service{Clients: m.Load.Connections, Rate: float64(ph.Requests) / ph.Seconds}}
	if m.Load.Rate == 0 {
		l.Response = float64(l.Clients) / l.Rate
	} else {
		l.Response = meanResponse(p, ph)
		l.Clients = 0
		if l.Rate < keptUp*m.Load.Rate {
			// The rate is too high: as many requests are in flight as there are connections
			// (Little's law).
			l.Clients = int(math.Round(l.Rate * l.Response))
		}
	}
	l.processors(p, ph)
	return l
}

// meanResponse returns the mean time of a request at a rate: from the trace, or else the median of
// a phase.
func meanResponse(p *rule.Pass, ph recording.Phase) float64 {
	if r := enoughRequests(p); r != nil {
		return float64(r.All.Time) / 1e9 / float64(r.Count)
	}
	if ph.Service != nil {
		return ph.Service.P50
	}
	return 0
}

// enoughRequests returns the requests of the trace; nil when they are few.
func enoughRequests(p *rule.Pass) *requests.Result {
	if p.Trace == nil || p.Trace.Requests == nil || p.Trace.Requests.All == nil || p.Trace.Requests.Count < fewRequests {
		return nil
	}
	return p.Trace.Requests
}

// processors sets the processors that a request needs. The program may use fewer than the machine
// has, or shares them with the load generator; the tighter bound counts.
func (l *Service) processors(p *rule.Pass, ph recording.Phase) {
	m, n := p.Manifest, float64(ph.Requests)
	own := (ph.CPUSeconds + ph.ChildCPUSeconds) / n
	all := own
	if m.Load.Local() {
		all += ph.GeneratorCPUSeconds / n
	}
	cores := float64(max(m.Machine.Cores, 1))
	free, least := cores, cores
	if ph.MachineCPUSeconds > 0 {
		used := (ph.CPUSeconds + ph.ChildCPUSeconds + ph.GeneratorCPUSeconds) / ph.Seconds
		others := max(0, ph.MachineCPUSeconds/ph.Seconds-used)
		free = min(cores, max(used, cores-others))
		least = free
		if others >= busyOthers*cores {
			least = min(free, used)
		}
	}
	l.CPU, l.Cores, l.mostCores, l.leastCores = all, free, cores, least
	for _, most := range []float64{float64(m.Runtime.GOMAXPROCS), m.Machine.CgroupCPUs} {
		if most > 0 && own/most > l.CPU/l.Cores {
			l.CPU, l.Cores, l.mostCores, l.leastCores = own, most, most, min(most, least)
		}
	}
	l.leastCPU = l.CPU * (1 - max(schedulerShare(p), l.idle()))
}

// idle returns the share of the processors that were idle.
func (l *Service) idle() float64 {
	return min(1, max(0, 1-l.Rate*l.CPU/l.Cores))
}

// schedulerShare returns the share of CPU in the scheduler: goroutines that do not wait are not put
// to sleep and woken. The load generator, which waits as often, is assumed to have the same share.
//
// A service whose processors are mostly idle pays more than that for each request: threads look for
// work, sleep and are woken, and the network is polled, a cost that more requests share. A service
// that slept under its lock took 396 µs per request with 0.3 of 2 cores busy, and 68 µs when the
// lock was removed and it answered seven times as many. So the least that a request takes is its
// part of the time in which processors were busy.
func schedulerShare(p *rule.Pass) float64 {
	if p.Table == nil || p.Table.Totals.TotalSeconds <= 0 {
		return 0
	}
	share := 0.0
	for i := range p.Table.Buckets {
		if b := &p.Table.Buckets[i]; b.Name == site.BucketScheduler {
			share += b.Seconds / p.Table.Totals.TotalSeconds
		}
	}
	return min(1, share)
}

// Unlocked returns the share of request latency, with bounds, that is saved when a lock is held for
// less time. waited is the share of the requests' time spent waiting for it. shorter is the part of
// the time under the lock that the fix removes (1: no request waits any more). The work under the
// lock is still done. In a closed loop the processors bound the saving: other processes are
// expected to keep what they had; the low bound leaves them all that the service does not use, the
// high one leaves all of the machine to the service and saves the scheduler's work too.
func Unlocked(p *rule.Pass, waited, shorter stats.Interval) (stats.Interval, bool) {
	return estimate(p, waited, func(s queueing.Service, which int) float64 {
		return s.Saved(1 - bound(shorter, which))
	})
}

// Sooner is [Unlocked] for waits of any kind that become shorter in proportion.
func Sooner(p *rule.Pass, waited, part stats.Interval) (stats.Interval, bool) {
	return estimate(p, waited, func(s queueing.Service, which int) float64 {
		return s.Less(bound(part, which))
	})
}

// Saved returns what requests save of their total time when they wait for less of it: a fraction of
// the seconds that they wait. In a closed loop more of them are then under way, as far as there are
// processors.
func Saved(p *rule.Pass, waited, total float64, f rule.Fraction) *rule.Saving {
	share := min(1, waited/total)
	if i, ok := Sooner(p, stats.Interval{Value: share, Low: share, High: share}, f.Interval()); ok {
		return &rule.Saving{Seconds: i.Value * total, Low: i.Low * total, High: i.High * total, Latency: total, Cost: waited, Modelled: true}
	}
	return f.Saving(waited, total)
}

// estimate evaluates a model for the expected value and its bounds.
func estimate(p *rule.Pass, waited stats.Interval, saved func(s queueing.Service, which int) float64) (stats.Interval, bool) {
	l := ServiceOf(p)
	if l == nil || l.Response <= 0 {
		return stats.Interval{}, false
	}
	at := func(which int) float64 {
		s := l.Service
		s.Wait = min(1, bound(waited, which)) * s.Response
		switch {
		case which < 0:
			s.CPU, s.Cores = sharing*l.CPU, l.leastCores
		case which > 0:
			s.CPU, s.Cores = l.leastCPU, l.mostCores
		}
		return saved(s, which)
	}
	i := stats.Interval{Value: at(0), Low: at(-1), High: at(1)}
	i.Low, i.High = min(i.Low, i.Value), max(i.High, i.Value)
	return i, true
}

// bound is an interval's low bound, value or high bound.
func bound(i stats.Interval, which int) float64 {
	switch {
	case which < 0:
		return i.Low
	case which > 0:
		return i.High
	}
	return i.Value
}

// LockWait returns the share of the requests' time in the trace that they wait for a lock of the
// trace; false when there are too few requests, or none of them waits for it.
func LockWait(p *rule.Pass, l *wall.Lock) (float64, bool) {
	r := enoughRequests(p)
	if r == nil || r.All.Time <= 0 {
		return 0, false
	}
	waited := waitedFor(r.All, l)
	return float64(waited) / 1e9 / requestsTime(p, r), waited > 0
}

// waitedFor returns how long the requests of a route wait for a lock, in nanoseconds.
func waitedFor(r *requests.Route, l *wall.Lock) (waited int64) {
	for i := range r.Places {
		place := &r.Places[i]
		if place.Waiter == nil || place.Part != requests.WaitSync && place.Part != requests.WaitCond {
			continue
		}
		if slices.ContainsFunc(l.Waiters, func(w wall.Waker) bool { return w.Line == *place.Waiter }) {
			waited += place.Time
		}
	}
	return waited
}

// LockRoute returns the route whose requests wait for a lock for the largest share of their time;
// nil when none has enough requests.
func LockRoute(p *rule.Pass, l *wall.Lock) (route *requests.Route, share float64) {
	r := enoughRequests(p)
	if r == nil {
		return nil, 0
	}
	for i := range r.Routes {
		of := &r.Routes[i]
		if of.Count < fewRequests || of.Time <= 0 || of.Name == "" {
			continue
		}
		if s := float64(waitedFor(of, l)) / float64(of.Time); s > share {
			route, share = of, s
		}
	}
	return route, share
}

// HeldAt returns the lock of the trace that is unlocked at a site, the one with most waiting; nil
// for none.
func HeldAt(p *rule.Pass, s *site.Site) *wall.Lock {
	if s == nil || !Long(p) {
		return nil
	}
	var found *wall.Lock
	for i := range p.Trace.Blocking.Locks {
		l := &p.Trace.Blocking.Locks[i]
		at := slices.ContainsFunc(l.Holders, func(h wall.Waker) bool {
			return h.Line.File == s.File && h.Line.Line == s.Line && h.Line.Function == s.Function
		})
		if at && (found == nil || cmp.Compare(l.Seconds, found.Seconds) > 0) {
			found = l
		}
	}
	return found
}
