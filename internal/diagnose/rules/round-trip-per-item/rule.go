// Package roundtripperitem finds loops that call a module for each item and wait for an answer each
// time.
package roundtripperitem

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare is the minimum share of the run, or of the requests' time, that the calls wait.
	leastShare = 0.1
	// leastItems is the minimum mean number of calls each time that the loop is reached.
	leastItems = 5
	// leastCalls is the minimum number of waits in the trace.
	leastCalls = 100
	// each is the minimum number of writes for each wait, and of waits for each call: one call in
	// two may find its answer without waiting.
	each = 0.5
	// several is how many calls must be in flight, on average, for the program to send more than
	// one at a time.
	several = 1.5
)

// fraction of the wait that fewer round trips save: the other side still handles every item.
var fraction = rule.Fraction{Expect: 0.7, Low: 0.2, High: 1}

// Rule is round-trip-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "round-trip-per-item",
		Kind:   rule.IO,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Round trip for each item of a loop",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A loop calls the client of a broker, a store or a service for each item (commit
this record, put this entry), and each call sends a message and waits for the
answer before the loop goes on. A round trip takes 20 µs to a process on the same
machine and milliseconds to another one; handling the item often takes less.

Pass many items in one call: most clients take a list or have a batch, a
transaction or a pipeline, and a commit of the last record covers those before
it. So collect the items and call once after the loop, or for every few hundred
of them. If there is no such call, keep several in flight (an asynchronous call
with a callback, errgroup with SetLimit): that saves the waiting, not the CPU.

It is fine where an item must be acknowledged before the next one may be sent.
The rule does not depend on the module. It reports calls with a value of the
iteration as an argument that wait for a tenth of the time and more, and below
which the module writes to a connection or file as often as they wait, and calls
that end in a function of the program which gets a key, waits, and returns a
value, as read(ctx, name) of a store. It leaves
alone calls with a list of items, and those whose result the next call gets. Of a
call that sends and one that waits for the answer, it reports the second.

Seen in the field: wopehq/kafka-do#7 (each record's offset committed by a call
that blocks), confluentinc/confluent-kafka-go#457.`

func find(p *rule.Pass) []rule.Match {
	if p.Syntax == nil || p.Code == nil || p.Trace.Syscalls == nil {
		return nil
	}
	total := traced.LatencyTotal(p)
	if total <= 0 {
		return nil
	}
	s := &search{pass: p, written: written(p)}
	var matches []rule.Match
	for _, w := range s.waits() {
		silent := float64(s.written[w.module].count) < each*float64(w.count)
		if w.count < leastCalls || w.seconds < leastShare*total || silent && !(w.fetches && traced.Serves(p)) {
			continue
		}
		l := s.loopAround(w)
		if l == nil || slices.ContainsFunc(matches, func(m rule.Match) bool { return m.Site.File == l.file && m.Site.Line == l.place.Line }) {
			continue
		}
		if m, ok := s.match(w, l, total); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

func (s *search) match(w *wait, l *loop, total float64) (rule.Match, bool) {
	p := s.pass
	name := syntax.Text(l.call.Fun)
	m := rule.Match{Site: l.site(p), Confidence: rule.Likely} // whether a call can take several items is not known
	whole := "the run"
	waited := w.seconds
	var share, goroutines string
	if traced.Serves(p) {
		t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool {
			return w.at(place.Caller) || w.at(place.Waiter)
		})
		if t == nil {
			return m, false
		}
		m.Saving, share, whole = t.Saving(), t.Share(), "the requests' time"
	} else {
		n := s.parallel(w, l)
		if waited /= n; waited < leastShare*total {
			return m, false
		}
		if n >= several {
			m.Confidence, goroutines = rule.Hint, fmt.Sprintf(" in %s goroutines", units.Number(n)) // several are in flight
		}
		waited = min(waited, total)
		m.Saving, share = fraction.Saving(waited, total), units.Percent(waited/total)
	}
	wrote, module := s.written[w.module], w.module
	if w.own {
		module = "the program"
	}
	below := ""
	if l.below != "" {
		below = ", which calls " + l.below + ","
	}
	if l.sent != "" {
		below = " after " + l.sent
	}
	writes := fmt.Sprintf(", and %s writes as often (%s)", module, wrote.line)
	if float64(wrote.count) < each*float64(w.count) {
		writes = fmt.Sprintf(" (%s:%d)", path.Base(w.line.File), w.line.Line)
	}
	m.Cause = fmt.Sprintf("The loop on %s calls %s%s for each item, %s each time it is reached, and each call waits for an answer before the next one%s: a round trip for every item. That takes %s of %s, %s per call%s.",
		l.where(), name, below, evidence.Times(l.items), goroutines, share, whole, units.Seconds(w.seconds/float64(w.count)), writes)
	m.Fix = fmt.Sprintf("Collect the items and pass many of them in one call of %s or of a batch call beside it: once after the loop, or for every few hundred.", cmp.Or(l.below, name))
	if goroutines == "" {
		m.Fix += " Or keep several calls in flight (an asynchronous call, errgroup with SetLimit), if none of them needs the answer to another."
	}
	if l.sent != "" {
		m.Fix = fmt.Sprintf("Send many items before the program reads the answers: put them into one message, or call %s for the next ones while others are on their way, and read the answers in another goroutine.", l.sent)
	}
	m.Evidence = []rule.Evidence{
		{What: "waits below this line, in the trace", Value: fmt.Sprintf("%s, %s in all", units.Count(w.count), units.Seconds(w.seconds)), Command: evidence.ViewCommand(p, "blocking")},
		{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s calls each time the loop is reached", units.Number(l.items))},
	}
	if wrote.count > 0 {
		m.Evidence = append(m.Evidence, rule.Evidence{
			What: "writes of " + module, Value: fmt.Sprintf("%s at %s", units.Count(wrote.count), wrote.line), Command: evidence.ViewCommand(p, "syscalls"),
		})
	}
	return m, true
}
