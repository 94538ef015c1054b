package channelhandoff

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// leastAsked is the minimum number of questions each time that a loop is reached.
	leastAsked = 16
	// levels is how many callers away from the question the loop may be.
	levels = 3
)

// exchange is the hand-offs of one question and its reply.
type exchange struct {
	question
	handoffs []*handoff
	count    int64
	brief    int64
}

// asked finds goroutines that requests ask for each element of a loop. In a program that exits, the
// loop may be the program itself.
func asked(p *rule.Pass) (matches []rule.Match) {
	if p.Counts == nil || p.Syntax == nil || p.Code == nil || !traced.Serves(p) {
		return nil
	}
	for _, e := range exchanges(p) {
		n := float64(e.count)
		if n < fewest || n < fewestRate*p.Trace.Parallelism.Length || float64(e.brief) < mostlyBrief*n {
			continue
		}
		at, ok := flow.Repeating(p, e.place, e.send, leastAsked, levels)
		if !ok || !each(e, at) {
			continue
		}
		if m, ok := e.match(p, at); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

// exchanges sums the hand-offs of each question.
func exchanges(p *rule.Pass) (list []*exchange) {
	for _, h := range handoffs(p) {
		q := exchanged(p, h)
		if q == nil {
			continue
		}
		i := slices.IndexFunc(list, func(e *exchange) bool { return e.send == q.send })
		if i < 0 {
			i, list = len(list), append(list, &exchange{question: *q})
		}
		e := list[i]
		e.handoffs = append(e.handoffs, h)
		e.count += h.count()
		e.brief += h.brief
	}
	return list
}

// each reports whether the loop asks about an element of its own in each iteration, and no question
// depends on an earlier reply.
func each(e *exchange, at flow.Repeated) bool {
	call, ok := at.Node.(*ast.CallExpr)
	return !ok || awaited.PerItem(at.Place, at.Loop, call) // a question of the loop's own function is shown whole
}

func (e *exchange) match(p *rule.Pass, at flow.Repeated) (rule.Match, bool) {
	callees := []string{"runtime.chansend*", "runtime.chanrecv*", "runtime.selectgo"}
	var sites []*site.Site
	for _, h := range e.handoffs {
		for _, l := range []exectrace.Line{h.sender, h.receiver} {
			if s := traced.SiteAt(p, l); s != nil && !slices.Contains(sites, s) {
				sites = append(sites, s)
			}
		}
	}
	cost := traced.Switching(p, e.count, sites, callees...)
	total := p.Table.Totals.TotalSeconds
	if cost == (stats.Interval{}) || cost.Value < leastShare*total {
		return rule.Match{}, false
	}
	pos := at.Place.Fset.Position(at.Node.Pos())
	function := syntax.ProfileName(at.Place)
	m := rule.Match{
		Site:       p.Site(&site.Frame{Function: function, File: pos.Filename, Line: pos.Line, Owner: p.Code.Owner(function, pos.Filename)}),
		Confidence: rule.Likely, // whether the loop may see a change between two questions is not known
		Saving:     fraction.Part(cost),
		Evidence: []rule.Evidence{
			{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s questions each time the loop is reached", units.Number(at.Items))},
			{What: "waits for questions and replies in the trace", Value: fmt.Sprintf("%s in %s", units.Count(e.count), units.Seconds(p.Trace.Parallelism.Length)), Command: evidence.ViewCommand(p, "blocking")},
			{What: "CPU for the channels, parking and waking", Value: units.Percent(min(1, cost.Value/total)), Command: evidence.TopCommand(p, "cpu")},
		},
	}
	for _, s := range sites {
		m.Around = append(m.Around, s.CPU...)
	}
	sends := ""
	if call, ok := at.Node.(*ast.CallExpr); ok {
		sends = fmt.Sprintf(" through %s", syntax.Text(call.Fun))
	}
	m.Cause = fmt.Sprintf("The loop on %s asks another goroutine about each element%s, %s each time it is reached: it sends a message on %s and waits for the reply before it goes on. The work between takes less than 5 µs in %s of the waits, less than the two switches of goroutines.",
		syntax.Where(at.Place, at.Loop.Pos()), sends, evidence.Times(at.Items), syntax.Text(e.send.Chan), units.Percent(float64(e.brief)/float64(e.count)))
	m.Fix = "Ask once for all elements: a message with the whole list, or with a function that the goroutine runs on its state. Or protect the state with a sync.RWMutex and read it directly, under one lock for the loop."
	return m, true
}
