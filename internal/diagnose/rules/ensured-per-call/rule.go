// Package ensuredpercall finds questions to another service that each call asks to create what is
// seldom missing.
package ensuredpercall

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the requests' time that they wait for the answer.
	leastShare = 0.1
	// mostMissing is the share of the questions after which something is created: where counting
	// starts, more is missing than later.
	mostMissing = 0.1
	// leastRepeats is the share of the questions that were asked before. Their answers are not
	// compared: the first one may differ, and is followed by what makes the others the same.
	leastRepeats = 0.5
)

// Rule is ensured-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "ensured-per-call",
		Kind:   rule.IO,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Uses:   []rule.Need{rule.NeedInputs},
		Title:  "Existence check on every call, though the object nearly always exists",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 1, Judge: find},
	}
}

const doc = `A function writes to another service. Before that, it asks whether the bucket, the
topic, the table or the first snapshot that the write needs is there, and creates
it if not. It is nearly always there, and the program learnt so with its last
write, but each request waits for two round trips in place of one. No CPU profile
shows it.

Remember what is known to exist: in a field, in a set, or by the version or
generation that the last write belonged to, and ask only about what is new. Or
write at once, and create what is missing only if the write fails because of it.

It is fine where the answer decides what the request returns, and where others
remove what was there: then let the failed write create it. The rule reports
calls that visibly ask another service, whose answer the function only tests,
and after which it creates something in at most one of ten executions, as
counted. The same must have been asked before, as far as counted inputs or
constant arguments show, and requests must wait there for a tenth of their time.
Locks, leases and pings, whose answers are about this moment, are left alone.

Seen in the field: benbjohnson/litestream#242 (all snapshots listed at each sync
to learn that there is one).`

func find(p *rule.Pass) []rule.Match {
	w, total := awaited.Long(p, leastShare)
	if w == nil {
		return nil
	}
	var matches []rule.Match
	for _, f := range w.Callers(p) {
		for _, s := range f.Steps {
			if s.Seconds < leastShare*total {
				continue
			}
			if q := ask(p, f, s); q != nil {
				matches = append(matches, q.match(p, total))
			}
		}
	}
	return matches
}

// ask returns the question of a step that requests wait for; nil if it is none that the function
// asks only to create what is missing.
func ask(p *rule.Pass, f *awaited.Function, s *awaited.Step) *question {
	q := look(f.Place, s.Call)
	if q == nil {
		return nil
	}
	q.step = s
	for _, arm := range q.arms() {
		if len(arm) == 0 {
			continue
		}
		missing, known := evidence.ReachedAt(p, q.place, arm[0].Pos())
		if known && missing <= mostMissing*s.Runs && q.creates(arm) {
			q.missing = missing
			break
		}
	}
	if q.create == nil || !q.again(p) {
		return nil
	}
	return q
}

// again reports whether the same was mostly asked before.
func (q *question) again(p *rule.Pass) bool {
	q.repeats = 1
	if in := q.inputs(p); in != nil && in.Calls > 0 {
		different := in.Identical
		if in.Stable > 0 {
			different = in.Stable
		}
		q.repeats = 1 - float64(different)/float64(in.Calls)
		q.counted = fmt.Sprintf("%s: %s calls, with %s", syntax.Text(q.call.Fun), units.Count(in.Calls), evidence.Different(units.Count(different)))
		return q.repeats >= leastRepeats
	}
	return q.constant()
}

// inputs returns what was counted of the function that is called; nil if nothing was.
func (q *question) inputs(p *rule.Pass) *inputs.Function {
	decl := q.place.Declaration(q.place.Callee(q.call))
	if decl == nil || p.Inputs == nil {
		return nil
	}
	return p.Inputs.Of(syntax.ProfileName(q.place.Entry(decl)))
}

func (q *question) match(p *rule.Pass, total float64) rule.Match {
	share := units.Percent(q.step.Seconds / total)
	unit := p.Manifest.Unit()
	asked, made := syntax.Text(q.call.Fun), syntax.Text(q.create.Fun)
	m := rule.Match{
		Site:       p.Site(q.step.Frame),
		Confidence: rule.Likely, // others might remove what was there
		Saving:     traced.Saved(p, q.step.Seconds, total, rule.Fraction{Expect: 0.95 * q.repeats, Low: 0.5 * q.repeats, High: 1}),
		Cause: fmt.Sprintf("%s calls %s %s per %s, only to call %s (%s) if it does not exist yet, which happened after %s of the answers. The answers are not used otherwise. Requests spend %s of their time waiting for them.",
			syntax.FuncName(q.place), asked, evidence.Times(q.step.Runs), unit, made, syntax.Where(q.place, q.create.Pos()), units.Percent(q.missing/q.step.Runs), share),
		Fix: fmt.Sprintf("Remember the answer, in a field or a set, and call %s only for what is new since the last call. Or write at once, and call %s only if that fails because something is missing.", asked, made),
		Evidence: []rule.Evidence{{
			What:    "time of requests waiting for this call",
			Value:   share + " of " + units.Seconds(total),
			Command: evidence.ViewCommand(p, "requests"),
		}, {
			What:  evidence.ExecutionsCounted,
			Value: fmt.Sprintf("asked %s times per %s, created %s times", units.Number(q.step.Runs), unit, units.Number(q.missing)),
		}},
	}
	if q.counted != "" {
		m.Cause += fmt.Sprintf(" In %s of the calls counted, it had asked the same before.", units.Percent(q.repeats))
		m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: q.counted})
	}
	return m
}
