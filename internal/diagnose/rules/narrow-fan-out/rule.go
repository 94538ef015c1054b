// Package narrowfanout finds requests whose calls wait for each other at a small limit of their
// own.
package narrowfanout

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the requests' time that they must wait for room.
	leastShare = 0.25
	// mostBusy is the share of the processors above which more at a time would wait for those.
	mostBusy = 0.6
	// leastTurns is the minimum number of calls for each place.
	leastTurns = 2
)

// fraction of the wait that a wider limit saves: what it protects may not serve all at once.
var fraction = rule.Fraction{Expect: 0.6, Low: 0.2, High: 0.95}

// Rule is narrow-fan-out.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "narrow-fan-out",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Calls of a request wait for each other at a small limit",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A handler asks for the state of each of twelve hosts in a goroutine of its own, but
only two run at a time: by SetLimit of an errgroup, a channel with room for two,
or two workers that it starts. The calls mostly wait for an answer, so the
request takes six times as long as one of them, while the machine and the other
side are idle. No CPU profile shows it.

Raise the limit to what the other side serves at a time: the connections of its
pool, its rate, or the number of elements if that is small. If the limit
protects the other side, it belongs where all requests share it, beside the
client: a limit for each request does not. If the other side can answer for
several elements at once, ask it in one call.

It is fine where the calls compute, and a limit near the number of processors is
right. The rule reports limits that the function makes itself, at which requests
wait for a quarter of their time and more, with at least two calls for each
place, while most of the processors are idle.

Seen in the field: hellofresh/health-go#80 (checks that wait, limited to the
number of processors).`

func find(p *rule.Pass) []rule.Match {
	if !traced.Long(p) || !traced.Serves(p) || p.Syntax == nil || p.Counts == nil || traced.Busy(p) >= mostBusy || limited(p) {
		return nil
	}
	total := traced.LatencyTotal(p)
	if total <= 0 {
		return nil
	}
	var matches []rule.Match
	for i := range p.Trace.Blocking.Waits {
		w := &p.Trace.Blocking.Waits[i]
		if w.Seconds < leastShare*total || w.Count == w.Open {
			continue
		}
		s := siteOf(p, w)
		if s == nil || slices.ContainsFunc(matches, func(m rule.Match) bool { return m.Site == s }) {
			continue
		}
		if m := match(p, s, w, total); m != nil {
			matches = append(matches, *m)
		}
	}
	return matches
}

// limited reports whether requests mostly wait for something that only some get at a time: more
// calls would wait there.
func limited(p *rule.Pass) bool {
	if p.Trace.Requests == nil || p.Trace.Requests.All == nil || len(p.Trace.Requests.All.Places) == 0 {
		return true
	}
	return slices.Contains([]string{
		requests.DatabaseConnection, requests.PgxConnection, requests.RedisConnection, requests.MongoConnection, requests.Semaphore, requests.RateLimiter,
		requests.Subprocess,
	}, p.Trace.Requests.All.Places[0].Object)
}

// siteOf returns the line of the main module that waits; nil for none.
func siteOf(p *rule.Pass, w *wall.Wait) *site.Site {
	line := w.Line
	if len(w.Callers) > 0 {
		line = w.Callers[0].Line
	}
	if line == (exectrace.Line{}) {
		return nil
	}
	return traced.SiteAt(p, line)
}

func match(p *rule.Pass, s *site.Site, w *wall.Wait, total float64) *rule.Match {
	place := p.Place(s)
	if place == nil {
		return nil
	}
	l := limitAt(p, place)
	if l == nil {
		return nil
	}
	e, ok := evidence.Executions(p, s.Frame)
	if !ok || e.PerCall < leastTurns || l.n > 0 && e.PerCall < leastTurns*float64(l.n) {
		return nil
	}
	waited := min(w.Seconds, total)
	most := "few"
	if l.n > 0 {
		most = fmt.Sprint("at most ", l.n)
	}
	return &rule.Match{
		Site:       s,
		Confidence: rule.Likely, // what the other side can serve is not known
		Saving:     traced.Saved(p, waited, total, fraction),
		Cause: fmt.Sprintf("%s starts %s calls here each time, but %s run at a time: the limit is %s. Requests wait here for %s of their time until one of their own calls is over, while the program and its load use %s of the processors.",
			syntax.FuncName(place.Outer()), units.Number(e.PerCall), most, l.words(), units.Percent(waited/total), units.Percent(traced.Busy(p))),
		Fix: fmt.Sprintf("Raise %s to what the other side serves at a time, or to the number of elements if that is small. If it protects the other side, share one limit between all requests; if the other side can answer for several elements at once, ask it in one call.", l.name),
		Evidence: []rule.Evidence{{
			What: "requests wait for room", Value: fmt.Sprintf("%s times, %s of %s", units.Count(w.Count), units.Seconds(waited), units.Seconds(total)),
			Command: evidence.ViewCommand(p, "blocking"),
		}},
	}
}
