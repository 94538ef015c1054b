package awaited

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// At returns the time, in seconds, that requests wait at a line or in functions below it, and that
// of all requests in the trace; 0 where no trace shows it.
func At(p *rule.Pass, f *site.Frame) (waited, total float64) {
	return sum(p, func(s *site.Frame) bool { return s.File == f.File && s.Line == f.Line })
}

// Elsewhere reports whether requests wait long in the function of a frame, but not at its line.
func Elsewhere(p *rule.Pass, f *site.Frame) bool {
	at, _ := At(p, f)
	in, total := sum(p, func(s *site.Frame) bool { return s.File == f.File && s.Function == f.Function })
	return in >= leastPriced*total && at < leastPriced*in
}

// sum is At for the lines that want selects.
func sum(p *rule.Pass, want func(*site.Frame) bool) (waited, total float64) {
	if p.Trace == nil || p.Trace.Requests == nil || p.Trace.Requests.All == nil || p.Syntax == nil || p.Counts == nil || !traced.Serves(p) {
		return 0, 0
	}
	for _, fn := range waitsOf(p).Callers(p) {
		for _, s := range fn.Steps {
			if want(s.Frame) {
				waited += s.Seconds
			}
		}
	}
	return waited, traced.LatencyTotal(p)
}

// leastPriced is the minimum share of the requests' time that they wait at a line for that to
// matter more than the line's CPU.
const leastPriced = 0.1

// Price prices a match by the time that requests wait at its line, if they wait long, and says so.
// of is the part of the wait that the fix saves; what is that which they wait for: "this write".
func Price(p *rule.Pass, m *rule.Match, of rule.Fraction, what string) {
	waited, total := At(p, &m.Site.Frame)
	if total <= 0 || waited < leastPriced*total {
		return
	}
	m.CPU, m.Allocs, m.Fraction = nil, nil, nil
	m.Saving = traced.Saved(p, waited, total, of)
	m.Cause += fmt.Sprintf(" Requests wait there for %s of their time.", units.Percent(waited/total))
	m.Evidence = append(m.Evidence, rule.Evidence{
		What: "time of requests waiting for " + what, Value: units.Seconds(waited) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
	})
}
