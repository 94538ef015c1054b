package requests

import (
	"math/bits"

	"github.com/hone-go/hone/histogram"
)

// maxRoutes is how many routes have figures of their own. Those that come later are one.
const maxRoutes = 64

// perStratum is how many requests of one class of latency are kept, of one route.
const perStratum = 16

// kept is what is remembered of a request in a sample.
type kept struct {
	latency int64
	parts   breakdown
	waits   []wait
}

// stratum is a class of latency: a quarter of an octave.
type stratum struct {
	n    int64 // requests in it
	kept []kept
}

// route is the figures of a route.
type route struct {
	protocol Protocol
	name     uint16
	other    bool // of the routes after maxRoutes
	latency  *histogram.Histogram
	served   *histogram.Histogram
	handler  *histogram.Histogram
	parts    breakdown
	samples  int64 // of the CPU
	strata   [numClasses]*stratum
	stacks   stackTable
	regions  map[string]*regionSum
	recent   [8]namedSum // some of regions, by the number of their name
}

// namedSum is a region whose name has a number.
type namedSum struct {
	id  uint32
	sum *regionSum
}

type regionSum struct{ n, time int64 }

// routeTable holds the routes.
type routeTable struct {
	byKey map[routeKey]*route
	list  []*route
	last  *route // the one asked for last: mostly it is asked for again
	rng   uint64
}

func (t *routeTable) init() {
	t.byKey = map[routeKey]*route{}
	t.rng = 0x9e3779b97f4a7c15 // always the same: the same trace gives the same report
}

// at returns the route of a request.
func (t *routeTable) at(l *live) *route {
	if t.last == nil || t.last.protocol != l.protocol || t.last.name != l.name || t.last.other {
		t.last = t.find(routeKey{l.protocol, l.name})
	}
	return t.last
}

func (t *routeTable) find(k routeKey) *route {
	if r := t.byKey[k]; r != nil {
		return r
	}
	r := &route{
		protocol: k.protocol, name: k.name, latency: histogram.New(), served: histogram.New(), handler: histogram.New(),
		regions: map[string]*regionSum{},
	}
	if len(t.list) >= maxRoutes {
		o := routeKey{}
		if t.byKey[o] == nil {
			r.protocol, r.name, r.other = 0, 0, true
			t.byKey[o] = r
			t.list = append(t.list, r)
		}
		t.byKey[k] = t.byKey[o]
		return t.byKey[o]
	}
	t.byKey[k] = r
	t.list = append(t.list, r)
	return r
}

// random returns a number below n: xorshift64*, which is good enough to choose a sample by.
func (t *routeTable) random(n int64) int64 {
	t.rng ^= t.rng >> 12
	t.rng ^= t.rng << 25
	t.rng ^= t.rng >> 27
	hi, _ := bits.Mul64(t.rng*0x2545f4914f6cdd1d, uint64(n))
	return int64(hi)
}

// numClasses is how many classes of latency there are.
const numClasses = 65 * 4

// classOf returns the stratum of a latency: four to an octave.
func classOf(latency int64) int {
	if latency < 4 {
		return int(max(latency, 0))
	}
	n := bits.Len64(uint64(latency))
	return n*4 + int(latency>>(n-3))&3
}

// take adds a request. The sample is chosen by dice.
func (r *route) take(l *live, dice *routeTable) {
	latency := l.end - l.begin
	r.latency.Record(latency)
	r.served.Record(l.end - l.readEnd)
	r.handler.Record(l.handled - l.handler)
	r.parts.add(&l.parts)
	r.samples += int64(len(l.samples))
	for i := range l.waits {
		r.stacks.add(&l.waits[i])
	}
	for _, g := range l.regions {
		if s := r.region(&g); s != nil {
			s.n++
			s.time += max(g.time, 0)
		}
	}
	class := classOf(latency)
	s := r.strata[class]
	if s == nil {
		s = new(stratum)
		r.strata[class] = s
	}
	s.n++
	// Reservoir sampling (Vitter's algorithm R): each request of the class is as likely to be kept.
	i := int64(len(s.kept))
	if i < perStratum {
		s.kept = append(s.kept, kept{})
	} else if i = dice.random(s.n); i >= perStratum {
		return
	}
	l.merge()
	k := &s.kept[i]
	k.latency, k.parts = latency, l.parts
	k.waits = append(k.waits[:0], l.waits...)
}

// region returns the sum of the regions of a name, nil when there are too many names.
func (r *route) region(g *region) *regionSum {
	recent := &r.recent[int(g.id)%len(r.recent)]
	if g.id != 0 && recent.id == g.id {
		return recent.sum
	}
	s := r.regions[g.name]
	if s == nil {
		if len(r.regions) >= 1024 {
			return nil
		}
		s = new(regionSum)
		r.regions[g.name] = s
	}
	*recent = namedSum{g.id, s}
	return s
}

// stackTable sums waits by stack: a hash table with open addressing, for a few adds a request.
type stackTable struct {
	slots []stackSum // a power of two; n 0 is empty
	used  int
}

type stackSum struct {
	wait // n is not used
	n    int64
}

func hashWait(w *wait) uint64 {
	h := uint64(w.waiter)<<32 | uint64(w.waker)
	h ^= uint64(w.part) << 57
	if w.busy {
		h = ^h
	}
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func (t *stackTable) add(w *wait) {
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	s := t.slot(w)
	if s.n == 0 {
		s.wait = *w
		s.ns = 0
		t.used++
	}
	s.n += int64(w.n)
	s.ns += w.ns
}

func (t *stackTable) slot(w *wait) *stackSum {
	mask := uint64(len(t.slots) - 1)
	for i := hashWait(w) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.n == 0 || s.waiter == w.waiter && s.waker == w.waker && s.part == w.part && s.busy == w.busy {
			return s
		}
	}
}

func (t *stackTable) grow() {
	old := t.slots
	t.slots = make([]stackSum, max(64, 2*len(old)))
	for i := range old {
		if old[i].n != 0 {
			*t.slot(&old[i].wait) = old[i]
		}
	}
}
