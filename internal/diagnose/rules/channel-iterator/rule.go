// Package channeliterator finds goroutines and channels that serve only to iterate over values in
// memory.
package channeliterator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/chaniter"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// fewest goroutines and waits for the channel, and in a second of the trace.
	fewest, fewestRate = 1000, 1000
	// leastShare of the program's CPU that they must take.
	leastShare = 0.03
)

// fraction of the cost of goroutines and channels that a loop saves: it calls a function for each
// element.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.7, High: 1}

// Rule is channel-iterator.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "channel-iterator",
		Kind:   rule.Goroutine,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Goroutine and channel only to iterate over values in memory",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 2, Judge: find},
	}
}

const doc = `A method returns a channel, and a goroutine sends the elements of a list or a map
to it, so that the caller can range over them. Starting the goroutine takes a
microsecond, the channel is an allocation, and each element takes a send and a
receive, 50 ns each with room in the channel, and two switches of goroutines
without: a hundred times as much as the next element of a slice. A caller that
stops early leaves the goroutine blocked forever, with a lock if it holds one.

Return a function to range over (iter.Seq, Go 1.23), take a function that is
called for each element, or return a copy of the list. If a caller looks for one
element, give it a method that does. Until a library does so, use its methods
that need no channel.

It is fine when the goroutine computes or reads the elements while the caller
uses others, and for the distribution of work among goroutines. The rule reports
neither.

Seen in the field: lestrrat-go/jwx#468 (a key looked up by its ID in a key set:
983 ns became 72 ns).`

func find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	for _, it := range chaniter.InTrace(p) {
		if m, ok := match(p, it); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

// waits returns how often a goroutine waited for the channel of an iterator in the trace, and the
// lines of both sides.
func waits(p *rule.Pass, it chaniter.Started) (times int64, lines []exectrace.Line) {
	for _, h := range p.Trace.Blocking.Handoffs {
		if !it.Sends(h.Waiter.File, h.Waiter.Line) && !it.Sends(h.Waker.File, h.Waker.Line) {
			continue
		}
		times += h.Count
		for _, l := range []exectrace.Line{h.Waiter, h.Waker} {
			if !slices.Contains(lines, l) {
				lines = append(lines, l)
			}
		}
	}
	return times, lines
}

func match(p *rule.Pass, it chaniter.Started) (rule.Match, bool) {
	waited, lines := waits(p, it)
	n, length := float64(it.Created+waited), p.Trace.Parallelism.Length
	if n < fewest || n < fewestRate*length {
		return rule.Match{}, false
	}
	sites := sitesOf(p, it, lines)
	callees := []string{"runtime.newproc*", "runtime.makechan*", "runtime.chansend*", "runtime.chanrecv*", "runtime.selectgo", "runtime.selectnb*", "runtime.closechan*"}
	cost := traced.Switching(p, it.Created+waited, sites, callees...)
	total := p.Table.Totals.TotalSeconds
	if cost == (stats.Interval{}) || cost.Value < leastShare*total {
		return rule.Match{}, false
	}
	m := rule.Match{
		Site: it.Site, Callees: callees, Saving: fraction.Part(cost), Callers: true, Confidence: rule.Measured,
		Evidence: []rule.Evidence{
			{What: "goroutines started here in the trace", Value: fmt.Sprintf("%s in %s", units.Count(it.Created), units.Seconds(length)), Command: evidence.ViewCommand(p, "goroutines")},
			{What: "waits over their channels", Value: units.Count(waited), Command: evidence.ViewCommand(p, "blocking")},
			{What: "CPU for goroutines, channels, parking and waking", Value: units.Percent(min(1, cost.Value/total)), Command: evidence.TopCommand(p, "cpu")},
		},
	}
	for _, at := range sites {
		m.CPU = append(m.CPU, stacks.Select(at.CPU, func(r *site.Row) bool { return stacks.Calls(r, callees...) })...)
	}
	words(it, waited, &m)
	return m, true
}

// sitesOf returns the sites at which the iterator's goroutines and channels are made and used.
func sitesOf(p *rule.Pass, it chaniter.Started, lines []exectrace.Line) []*site.Site {
	sites := []*site.Site{it.Site}
	add := func(at *site.Site) {
		if at != nil && !slices.Contains(sites, at) {
			sites = append(sites, at)
		}
	}
	for _, l := range lines {
		add(traced.SiteAt(p, l))
	}
	for _, at := range p.Table.Sites {
		if it.Sends(at.File, at.Line) || it.MadeAt == at.Line && at.File == it.Site.File {
			add(at)
		}
	}
	return sites
}

// words sets the cause and the fix.
func words(it chaniter.Started, waited int64, m *rule.Match) {
	over, name := it.Over, syntax.FuncName(it.Place)
	if over == "" {
		over = "a collection"
	}
	made := fmt.Sprintf("%s goroutines and channels", units.Count(it.Created))
	if waited > 0 {
		made += fmt.Sprintf(" and %s waits for a channel", units.Count(waited))
	}
	m.Cause = fmt.Sprintf("%s starts a goroutine and makes a channel only to iterate over %s, which is in memory: %s in the trace. Each call pays for both, and each element for a send, a receive and often a switch of goroutines.",
		upper(name), over, made)
	m.Fix = fmt.Sprintf("Let %s return an iterator function (iter.Seq), or take a function and call it for each element in a plain loop. Callers that want one element or the list need a method without a goroutine; until there is one, look for such a method in the package.", name)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
