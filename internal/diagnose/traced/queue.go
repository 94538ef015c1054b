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

// Queue is the time that requests wait for a resource that the program gives to a limited number of
// them at a time.
type Queue struct {
	Site   *site.Site // the line of most of it
	Place  *requests.PlaceTime
	Waited float64 // seconds, of all requests
	AtSite float64 // of it
	Total  float64 // the time of all requests
	Length float64 // of the trace
	saving rule.Saving
}

// Limits above which a shorter wait saves nothing, because admitted requests wait for a processor.
const (
	// fullMachine is the share of all processors that the service and its load keep busy.
	fullMachine = 0.8
	// crowded is the share of the requests' time outside the queue in which they wait for a
	// processor, and none is idle. Where the processors are busy for less than halfMachine, that
	// is because all requests are woken at once.
	crowded     = 0.5
	halfMachine = 0.5
)

// QueueFraction is the fraction of the wait that a larger or faster resource saves: all of it if
// what is behind the queue has room, hardly any if that is the bottleneck. The recording does not
// show which.
func QueueFraction() rule.Fraction { return rule.Fraction{Expect: 0.5, Low: 0.05, High: 1} }

// LongestQueue adds up the time that requests spend at lines of one kind. It is nil when that is
// less than a share of their time, when most of it is at a line that no one can change, or when
// requests lack processors anyway.
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
	if t.Site == nil || t.Waited < least*t.Total || busy >= fullMachine || busy >= halfMachine && lacking > crowded*(t.Total-t.Waited) {
		return nil
	}
	t.price(p, busy)
	return t
}

// QueueAt is [LongestQueue] for the waits at the line of a site.
func QueueAt(p *rule.Pass, s *site.Site, least float64) *Queue {
	if p.Trace == nil {
		return nil
	}
	at := func(l *exectrace.Line) bool { return l != nil && l.Function == s.Function && l.Line == s.Line }
	return LongestQueue(p, least, func(place *requests.PlaceTime) bool { return at(place.Waiter) || at(place.Caller) })
}

// price sets what requests save if they do not wait. In a closed loop more of them are then in
// flight, as far as there are processors.
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

// first returns the first of some lines that belongs to a module.
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

// Saving returns what requests save if they do not wait.
func (t *Queue) Saving() *rule.Saving {
	s := t.saving
	return &s
}

// LacksCPU reports whether requests that no longer wait here would wait for a processor instead:
// the processors leave less than half of what the queue's fraction saves.
func (t *Queue) LacksCPU() bool {
	return t.saving.Modelled && t.saving.Seconds < QueueFraction().Expect*t.Waited/2
}

// Share returns the part of the requests' time that they wait, for a sentence.
func (t *Queue) Share() string { return units.Percent(t.Waited / t.Total) }

// Waiting returns how many wait at a time, for a sentence.
func (t *Queue) Waiting() string { return units.Number(t.Waited / t.Length) }

// Evidence returns what the trace shows.
func (t *Queue) Evidence(p *rule.Pass, forWhat, backAt string) []rule.Evidence {
	out := []rule.Evidence{{What: "time of requests waiting for " + forWhat, Value: units.Seconds(t.Waited) + " of " + units.Seconds(t.Total), Command: evidence.ViewCommand(p, "requests")}}
	if w := t.Place.Wakers; len(w) > 0 && w[0].Line != nil {
		out = append(out, rule.Evidence{What: backAt, Value: w[0].Line.String(), Command: evidence.ViewCommand(p, "requests")})
	}
	return out
}
