package requests

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
	"github.com/hone-go/hone/internal/units"
)

// Place is what a request spends time on: a part and, for parts off the processor, the line where
// it waits.
type Place struct {
	Part   Part            `json:"part"`
	NoIdle bool            `json:"no_idle_processor,omitempty"` // ready: while all processors were busy
	Object string          `json:"object,omitempty"`            // what it waits for: "a sync.Mutex"
	Waiter *exectrace.Line `json:"waiter,omitempty"`
	// Caller is the program's own line that called Waiter, if Waiter is in a module that the
	// program depends on.
	Caller *exectrace.Line `json:"caller,omitempty"`
	// Wakers are the lines that ended the waits, most time first.
	Wakers []WakerShare `json:"wakers,omitempty"`
}

// WakerShare is a line that ended waits.
type WakerShare struct {
	Line  *exectrace.Line `json:"line,omitempty"` // nil: nobody known: network, timer
	Share float64         `json:"share"`          // of the time at the place
	// InHandlers is the part of Share in which the waker was in the handler of another request:
	// requests wait for each other.
	InHandlers float64 `json:"in_handlers,omitempty"`
	// Start is the function that the waker's goroutine started with (what was passed to a
	// sync.WaitGroup or an errgroup), of one that ended a wait here.
	Start string `json:"start,omitempty"`
}

// PlaceTime is the time that all requests of a route spent at one place.
type PlaceTime struct {
	Place
	Time  int64   `json:"ns"`
	Share float64 `json:"share"` // of the requests' time
}

// placeKey is what places are distinguished by.
type placeKey struct {
	part         Part
	noIdle       bool
	object       string
	line, caller exectrace.Line
}

// spending is the time of some requests by place: of all of them, or of one in the mean.
type spending struct {
	latency float64
	by      map[placeKey]float64
	wakers  map[placeKey]map[exectrace.Line]ended
}

// ended is the time of waits that a line ended, and that in handlers of it, and the function that
// the goroutine of the first of them started with.
type ended struct {
	all, inHandlers float64
	start           string
}

func newSpending() spending {
	return spending{by: map[placeKey]float64{}, wakers: map[placeKey]map[exectrace.Line]ended{}}
}

// run adds a share of the time of those parts that are at no place.
func (s *spending) run(parts *breakdown, share float64) {
	for p, ns := range parts {
		if p := Part(p); !p.placed() && ns > 0 {
			s.by[placeKey{part: p}] += share * float64(ns)
		}
	}
}

// spend adds a share of a wait. Waiting for a processor is one thing, wherever it began.
func (f *Fold) spend(s *spending, w *wait, share float64) {
	k := placeKey{part: w.part, noIdle: w.busy, object: f.object(w.waiter, w.part)}
	if !w.part.ready() {
		k.line, k.caller = f.src.Blame(w.waiter), f.src.Caller(w.waiter)
	}
	ns := share * float64(w.ns)
	s.by[k] += ns
	if !w.part.waiting() {
		return
	}
	if s.wakers[k] == nil {
		s.wakers[k] = map[exectrace.Line]ended{}
	}
	var by exectrace.Line
	inHandlers := 0.0
	if w.waker != 0 {
		by = f.src.Blame(w.waker)
		if f.classes[w.waker].place == servers.InHandler {
			inHandlers = ns
		}
	}
	sum := s.wakers[k][by]
	if sum.start == "" && w.waker != 0 {
		sum.start = f.src.Root(w.waker).Function
	}
	s.wakers[k][by] = ended{sum.all + ns, sum.inHandlers + inHandlers, sum.start}
}

// place is the place of a key.
func (s *spending) place(k placeKey) Place {
	return Place{
		Part: k.part, NoIdle: k.noIdle, Object: k.object, Waiter: lineOrNil(k.line), Caller: lineOrNil(k.caller),
		Wakers: wakers(s.wakers[k], s.by[k]),
	}
}

// maxPlaces bounds the places of a route.
const maxPlaces = 100

// spentAt returns where the requests of a group spent their time, most first.
func (f *Fold) spentAt(g group, parts *breakdown) []PlaceTime {
	s := newSpending()
	s.run(parts, 1)
	for _, r := range g.routes {
		for i := range r.stacks.slots {
			if w := &r.stacks.slots[i]; w.n > 0 {
				f.spend(&s, &w.wait, 1)
			}
		}
	}
	total := float64(max(1, parts.total()))
	var out []PlaceTime
	for k, ns := range s.by {
		if ns > 0 {
			out = append(out, PlaceTime{Place: s.place(k), Time: int64(ns), Share: ns / total})
		}
	}
	slices.SortFunc(out, func(a, b PlaceTime) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), a.Place.compare(&b.Place))
	})
	return out[:min(len(out), maxPlaces)]
}

// leastPlace is the share of the requests' time from which on a place is named; mostPlaces is how
// many are named.
const leastPlace, mostPlaces = 0.1, 3

// Main are the few places where most of the route's time goes, most first.
func (r *Route) Main() []PlaceTime {
	n := 0
	for n < min(len(r.Places), mostPlaces) && r.Places[n].Share >= leastPlace {
		n++
	}
	return r.Places[:n]
}

// Spent describes where the time of requests goes: "71 % of their time waiting for a sync.Mutex at
// shop/store.go:41 (released at shop/store.go:58), 24 % running".
func Spent(places []PlaceTime) string {
	var b strings.Builder
	for i := range places {
		of, sep := " of their time", ""
		if i > 0 {
			of, sep = "", ", "
		}
		b.WriteString(sep + units.Percent(places[i].Share) + of + " " + places[i].Text())
	}
	return b.String()
}

func wakers(by map[exectrace.Line]ended, total float64) []WakerShare {
	var out []WakerShare
	for line, sum := range by {
		out = append(out, WakerShare{lineOrNil(line), sum.all / total, sum.inHandlers / total, sum.start})
	}
	slices.SortFunc(out, func(a, b WakerShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), compareLines(a.Line, b.Line))
	})
	return out
}

// compare orders places of equal time.
func (p *Place) compare(o *Place) int {
	return cmp.Or(cmp.Compare(p.Part, o.Part), compareBool(p.NoIdle, o.NoIdle), compareLines(p.Waiter, o.Waiter),
		compareLines(p.Caller, o.Caller), cmp.Compare(p.Object, o.Object))
}

// compareLines orders lines, none first.
func compareLines(a, b *exectrace.Line) int {
	var none exectrace.Line
	if a == nil {
		a = &none
	}
	if b == nil {
		b = &none
	}
	return a.Compare(*b)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
