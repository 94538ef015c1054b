// Package waitingline names the lines where requests wait, if no other rule explains that.
package waitingline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastShare of the requests' time that they must wait at a line.
	leastShare = 0.25
	// mostBusy is the share of the processors above which requests wait for those.
	mostBusy = 0.8
	// mostly is the share of the waits at a line that one other line must end to be named.
	mostly = 0.5
)

// Rule is waiting-line.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "waiting-line",
		Kind:    rule.Block,
		Needs:   []rule.Need{rule.NeedTrace},
		Title:   "Line where requests wait",
		Doc:     doc,
		Generic: true,
		Finder:  finder.Trace{Specificity: -100, Judge: find},
	}
}

const doc = `Requests spend much of their time waiting at one line: for a goroutine, for the
end of a sleep, for the answer of another server. No other rule explains the
wait. The finding shows how long each wait takes, how many requests wait at a
time, which line ends the waits, and what the goroutines there do meanwhile. It
promises no saving, because none is known.

It is fine where the request needs what it waits for, and the other side takes
that long. Check whether each request needs it, whether it can be asked for
earlier or together with something else, and whether what ends the wait has to
wait itself.

Seen in the field: segmentio/analytics-go#72 (calls that wait for the upload of
a batch, although nothing is computed).`

func find(p *rule.Pass) []rule.Match {
	if p.Trace.Requests == nil || p.Trace.Requests.All == nil || !traced.Serves(p) || traced.Busy(p) >= mostBusy {
		return nil
	}
	total := traced.LatencyTotal(p)
	var lines []*line
	for i := range p.Trace.Requests.All.Places {
		place := &p.Trace.Requests.All.Places[i]
		at := cmp.Or(place.Caller, place.Waiter)
		if at == nil || !waits(place) {
			continue
		}
		s := traced.SiteAt(p, *at)
		if s == nil {
			continue
		}
		i := slices.IndexFunc(lines, func(l *line) bool { return l.site.Line == s.Line && l.site.File == s.File })
		if i < 0 {
			i, lines = len(lines), append(lines, &line{site: s, place: place})
		}
		lines[i].seconds += float64(place.Time) / 1e9
	}
	var matches []rule.Match
	for _, l := range lines {
		if total > 0 && l.seconds >= leastShare*total {
			matches = append(matches, l.match(p, total))
		}
	}
	return matches
}

// waits reports whether a place is one where requests wait for something other than a lock, which
// rules about locks explain, and their own client.
func waits(place *requests.PlaceTime) bool {
	switch place.Part {
	case requests.WaitNetwork, requests.WaitSelect, requests.WaitChanSend, requests.WaitChanReceive, requests.WaitCond, requests.WaitSleep:
	case requests.WaitSync:
		if strings.HasPrefix(place.Object, "a sync.") || !place.Named() {
			return false
		}
	default:
		return false
	}
	return !slices.Contains([]string{
		"the body of the request", "the client to take the response", "the read of its connection to stop", "a handler under http.TimeoutHandler",
	}, place.Object)
}

// line is a line where requests wait.
type line struct {
	site    *site.Site
	place   *requests.PlaceTime // of most of it
	seconds float64
}

func (l *line) match(p *rule.Pass, total float64) rule.Match {
	each, object := "", l.place.Object
	if object == "a select" {
		object = "one of several things (a select)"
	}
	if mean, ok := traced.Mean(p, l.place); ok && l.place.Part != requests.WaitSelect { // of which a call may have several
		each = ", " + units.Seconds(mean) + " each time"
	}
	cause := waiting(l.seconds/total, l.seconds/p.Trace.Parallelism.Length, traced.Busy(p), object+each)
	return rule.Match{
		Site:       l.site,
		Confidence: rule.Hint, // no mistake is known
		Saving:     &rule.Saving{Seconds: l.seconds, High: l.seconds, Latency: total, Cost: l.seconds},
		Cause:      cause + l.ended(p),
		Fix:        l.advice(p),
		Evidence: []rule.Evidence{{
			What: "time of requests waiting here", Value: units.Seconds(l.seconds) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
		}},
	}
}

// waiting says how long requests wait for something: a share of the time of the load's requests. It
// is more than all of that if other requests wait there as well.
func waiting(share, atATime, busy float64, what string) string {
	on, meanwhile := "on average "+units.Number(atATime), fmt.Sprintf("while the program and its load use %s of the processors.", units.Percent(busy))
	if share <= 1 {
		return fmt.Sprintf("Requests spend %s of their time waiting here for %s: %s wait at a time, %s", units.Percent(share), what, on, meanwhile)
	}
	return fmt.Sprintf("Requests wait here for %s: %s at a time, %s That is more than the load has under way: the program sends requests to itself, or goes on after the load has its answer.", what, on, meanwhile)
}

// ended says which line of a module mostly ends the waits, and what the goroutines do that come
// there; "" if that is not known.
func (l *line) ended(p *rule.Pass) string {
	i := slices.IndexFunc(l.place.Wakers, func(w requests.WakerShare) bool { return w.Line != nil && w.Share >= mostly })
	if i < 0 {
		return ""
	}
	by := l.place.Wakers[i]
	if traced.SiteAt(p, *by.Line) == nil {
		return ""
	}
	text := fmt.Sprintf(" The wait mostly ends when %s comes to %s.", symbol.Short(funcname.Typed(by.Line.Function)), evidence.Near(p, l.site, *by.Line))
	if by.InHandlers >= mostly*by.Share {
		return text + " That is in other requests."
	}
	if p.Trace.Goroutines == nil {
		return text
	}
	for i := range p.Trace.Goroutines.Groups {
		if g := &p.Trace.Goroutines.Groups[i]; g.Function == by.Start && g.Found > g.Ended {
			return text + doing(p, l.site, g)
		}
	}
	return text
}

// doing says where goroutines spend most of their time.
func doing(p *rule.Pass, near *site.Site, g *wall.Group) string {
	who := units.Count(g.Found+g.Created-g.Ended) + " goroutines run it, and spend"
	if g.Found+g.Created-g.Ended == 1 {
		who = "One goroutine runs it, and spends"
	}
	if len(g.Stacks) == 0 || g.Seconds <= 0 || g.Stacks[0].Line == (exectrace.Line{}) {
		return ""
	}
	s := g.Stacks[0]
	return fmt.Sprintf(" %s %s of the time at %s (%s).", who, units.Percent(s.Seconds/g.Seconds), evidence.Near(p, near, s.Line), strings.TrimSpace(s.What+" "+s.Why))
}

// advice returns the question that the wait raises.
func (l *line) advice(p *rule.Pass) string {
	view := fmt.Sprintf("`%s` shows where else requests spend their time.", evidence.ViewCommand(p, "requests"))
	switch {
	case l.place.Part == requests.WaitSleep:
		return "Check whether requests have to pause here. If they give something in the program time to happen, let that wake them: a channel that is closed, or a sync.Cond. " + view
	case l.place.Part == requests.WaitNetwork || l.place.Named():
		return "Check whether each request needs what it waits for: keep an answer that is the same for many, ask for several at once, and start early what takes long. " + view
	}
	return "Check why it takes so long until the wait ends: whether what ends it waits itself, does one thing after the other, or waits for more than this request needs. " + view
}
