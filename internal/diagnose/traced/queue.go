package traced

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

// Queue is the time that requests wait for a resource that the program gives to a few of them at a
// time.
type Queue struct {
	Site   *site.Site // where most of it is
	Place  *requests.PlaceTime
	Waited float64 // seconds, of all requests
	AtSite float64 // of it
	Total  float64 // the time of all requests
	Length float64 // of the trace
	saving rule.Saving
}

// When a turn that comes sooner brings nothing, since what is let through has to wait for a processor.
const (
	// fullMachine is how busy the service and its load keep the processors then, of all.
	fullMachine = 0.8
	// crowded is the share of the time of requests outside the queue in which they wait for a processor, and none is idle.
	crowded = 0.5
)

// QueueFraction of the wait goes when more have their turn at a time, or each is sooner through: all where what is
// behind it bears more, hardly any where that is the limit itself, which a recording of those who wait cannot tell.
func QueueFraction() rule.Fraction { return rule.Fraction{Expect: 0.5, Low: 0.05, High: 1} }

// LongestQueue adds up the time that requests spend at places of one kind. It is nil when that is less than a share of their time,
// when most of it is at no line that somebody can change, or when requests lack processors anyway.
func LongestQueue(p *rule.Pass, least float64, waits func(*requests.PlaceTime) bool) *Queue {
	if !Long(p) || !Serves(p) {
		return nil
	}
	t := &Queue{Total: LatencyTotal(p), Length: p.Trace.Parallelism.Length}
	if t.Total <= 0 {
		return nil
	}
	places := p.Trace.Requests.All.Places
	var lacking float64 // a processor
	for i := range places {
		place := &places[i]
		if place.NoIdle {
			lacking += float64(place.Time) / 1e9
		}
		if place.Waiter == nil || !waits(place) {
			continue
		}
		s := float64(place.Time) / 1e9
		t.Waited += s
		if s > t.AtSite {
			if at := first(p, place.Caller, place.Waiter); at != nil {
				t.Site, t.Place, t.AtSite = at, place, s
			}
		}
	}
	busy := Busy(p)
	if t.Site == nil || t.Waited < least*t.Total || busy >= fullMachine || lacking > crowded*(t.Total-t.Waited) {
		return nil
	}
	t.price(p, busy)
	return t
}

// price sets what requests save that need not wait. In a closed loop more of them are under way then, as far as
// there are processors.
func (t *Queue) price(p *rule.Pass, busy float64) {
	f := QueueFraction()
	t.saving = rule.Saving{Latency: t.Total, Cost: t.AtSite}
	share := min(1, t.Waited/t.Total)
	if i, ok := Sooner(p, stats.Interval{Value: share, Low: share, High: share}, f.Interval()); ok {
		t.saving.Seconds, t.saving.Low, t.saving.High = i.Value*t.Total, i.Low*t.Total, i.High*t.Total
		t.saving.Modelled = true
		return
	}
	most := func(fraction float64) float64 { return min(fraction*t.Waited, t.Total*(1-busy)) }
	t.saving.Seconds, t.saving.Low, t.saving.High = most(f.Expect), most(f.Low), most(f.High)
}

// first is the first of some lines that somebody can change.
func first(p *rule.Pass, lines ...*exectrace.Line) *site.Site {
	for _, l := range lines {
		if l == nil {
			continue
		}
		if s := SiteAt(p, *l); s != nil {
			return s
		}
	}
	return nil
}

// Saving is what requests save that need not wait.
func (t *Queue) Saving() *rule.Saving {
	s := t.saving
	return &s
}

// Share is the part of the requests' time that they wait, in words.
func (t *Queue) Share() string { return units.Percent(t.Waited / t.Total) }

// Waiting is how many wait at a time, in words.
func (t *Queue) Waiting() string { return units.Number(t.Waited / t.Length) }

// Evidence is what the trace says.
func (t *Queue) Evidence(p *rule.Pass, forWhat, backAt string) []rule.Evidence {
	out := []rule.Evidence{{What: "time of requests waiting for " + forWhat, Value: units.Seconds(t.Waited) + " of " + units.Seconds(t.Total), Command: evidence.ViewCommand(p, "requests")}}
	if w := t.Place.Wakers; len(w) > 0 && w[0].Line != nil {
		out = append(out, rule.Evidence{What: backAt, Value: w[0].Line.String(), Command: evidence.ViewCommand(p, "requests")})
	}
	return out
}
