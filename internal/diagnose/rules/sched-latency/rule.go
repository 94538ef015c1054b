// Package schedlatency finds services whose requests wait for a processor.
package schedlatency

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastReady is the minimum share of requests' time, running or ready, that they are ready
	// without a processor.
	leastReady = 0.3
	// saturated is the minimum share of busy processors that means too much work. Below it the work
	// comes in bursts.
	saturated = 0.85
	// leastAnswered is the part of the requests sent below which the service is overloaded.
	leastAnswered = 0.95
	// fewest requests, started in the trace or open at its end.
	fewest = 5
	// leastOthers is the minimum share of the machine of other processes that is reported.
	leastOthers = 0.15
	// manyWakes a second, and the share of the time that goroutines run, above which waking idle
	// processors costs much.
	manyWakes, leastWaking = 1000, 0.3
)

// fraction of the time spent ready that a processor for each request saves: nearly all, but a burst
// always waits a little.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.7, High: 1}

// Rule is sched-latency.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "sched-latency",
		Kind:   rule.Sched,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests wait for a processor",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A runnable goroutine without a processor waits in the run queue, for one of two
reasons. If all processors are busy, more work arrives than the cores can do,
and latency grows with every request. If processors are idle and must be woken
first, the work comes in pieces so small that waking a thread (5 to 50 µs) costs
as much as a piece.

Requests that take less than a time slice (10 ms) do not show as waiting in the
trace: with all processors busy nothing reads the next ones. Then the load shows
the overload: the response rate is below the request rate.

When there is too much work, only less work per request, more cores or fewer
requests help. A concurrency limit keeps the admitted requests fast; without one
all become slow, and time out when they are half done.

It is fine when a load generator sends as fast as it can: the cores are then
meant to be busy. The rule reports neither that nor programs that exit, which
keep their cores busy by design.

Seen in the field: golang/go#18237 (idle processors woken for each small piece
of work); "High Performance Go Workshop" (Cheney), where a service that takes a
second to draw a picture got one more request per second than it had cores.`

func find(p *rule.Pass) []rule.Match {
	if !traced.Serves(p) || flatOut(p) {
		return nil
	}
	t := timeOf(p.Trace.Requests)
	busy := p.Trace.Parallelism.MeanBusy / float64(max(1, p.Trace.Parallelism.Procs))
	if t.count+t.open >= fewest && t.ready >= leastReady*(t.ready+t.ran) {
		return []rule.Match{t.waiting(p, busy)}
	}
	if m, ok := behind(p, busy); ok {
		return []rule.Match{m}
	}
	return waking(p, busy)
}

// behind finds services that answer fewer requests than are sent, by the load alone: requests of
// handlers that take less than a time slice (10 ms) do not show as waiting, because with all
// processors busy nothing reads the next requests from the kernel.
func behind(p *rule.Pass, busy float64) (rule.Match, bool) {
	ph, ok := p.Phase(recording.PhaseClean)
	requests := p.Trace.Requests
	if !ok || p.Manifest.Load == nil || ph.Seconds <= 0 || ph.Latency == nil || busy < saturated || requests == nil || requests.All == nil || requests.All.Served == nil || requests.Count < fewest {
		return rule.Match{}, false
	}
	asked, got := p.Manifest.Load.Rate, float64(ph.Requests)/ph.Seconds
	seen := requests.All.Served.P50
	waits := 1 - seen/ph.Latency.P50 // from when a request was due to its answer
	if asked <= 0 || got > leastAnswered*asked || waits < leastReady {
		return rule.Match{}, false
	}
	return rule.Match{
		Confidence: rule.Likely,
		Saving:     &rule.Saving{Seconds: fraction.Expect * waits, Low: fraction.Low * waits, High: waits, Latency: 1},
		Cause: fmt.Sprintf("The service is overloaded: it gets %s requests per second and answers %s, with its %d processors busy for %s of the time. The other requests wait in the kernel, where no goroutine waits for them: half of the requests take longer than %s from when they were due, and %s from when they are read.",
			units.Number(asked), units.Number(got), p.Trace.Parallelism.Procs, units.Percent(min(1, busy)), units.Seconds(ph.Latency.P50), units.Seconds(seen)),
		Fix: relief,
		Evidence: append(answered(p),
			rule.Evidence{What: "processors busy", Value: fmt.Sprintf("%s of %d, mean", units.Number(p.Trace.Parallelism.MeanBusy), p.Trace.Parallelism.Procs), Command: evidence.ViewCommand(p, "parallelism")}),
	}, true
}

// relief is the fix for an overloaded service.
const relief = "Make requests cheaper (the findings in the code show where), add cores, or send fewer requests. Until then, admit only as many requests at a time as there are cores (with a semaphore in front of the handler, which answers 503 to the others): admitted requests then stay fast, while now all of them are slow."

// flatOut reports whether the load sent as many requests as the service answered.
func flatOut(p *rule.Pass) bool {
	return p.Manifest != nil && p.Manifest.Load != nil && p.Manifest.Load.Rate == 0
}

// times is how requests spent their time, in seconds.
type times struct {
	count, open       int64
	all, ran, ready   float64
	readyForProcessor float64 // ready requests of all, at one time
}

// timeOf sums up finished requests and those that were open at the end: an overloaded service may
// finish none in a short trace.
func timeOf(r *requests.Result) times {
	var t times
	if r == nil {
		return t
	}
	if r.All != nil {
		t.count = r.Count
		t.add(r.All.Parts)
	}
	for i := range r.Open {
		t.open++
		t.add(r.Open[i].Parts)
	}
	if r.Length > 0 {
		t.readyForProcessor = t.ready / (float64(r.Length) / 1e9)
	}
	return t
}

func (t *times) add(parts []requests.PartTime) {
	for _, part := range parts {
		s := float64(part.Time) / 1e9
		t.all += s
		switch part.Part {
		case requests.Running, requests.Assist, requests.Sweep:
			t.ran += s
		case requests.ReadyCreated, requests.ReadyWoken, requests.ReadyPreempted, requests.ReadySyscall:
			t.ready += s
		}
	}
}

// waiting reports requests that wait for processors.
func (t *times) waiting(p *rule.Pass, busy float64) rule.Match {
	par := p.Trace.Parallelism
	share := units.Percent(t.ready / t.all)
	m := rule.Match{
		Confidence: rule.Likely,
		Saving:     &rule.Saving{Seconds: fraction.Expect * t.ready, Low: fraction.Low * t.ready, High: t.ready, Latency: t.all},
		Evidence: []rule.Evidence{
			{What: "requests in the trace", Value: fmt.Sprintf("%s answered, %s open at its end", units.Count(t.count), units.Count(t.open)), Command: evidence.ViewCommand(p, "requests")},
			{What: "their time runnable, without a processor", Value: fmt.Sprintf("%s of %s", units.Seconds(t.ready), units.Seconds(t.all)), Command: evidence.ViewCommand(p, "sched")},
			{What: "processors busy", Value: fmt.Sprintf("%s of %d, mean", units.Number(par.MeanBusy), par.Procs), Command: evidence.ViewCommand(p, "parallelism")},
		},
	}
	m.Evidence = append(m.Evidence, answered(p)...)
	others := ""
	if o := traced.OthersBusy(p); o >= leastOthers {
		others = fmt.Sprintf(" Other processes took %s of the machine meanwhile.", units.Percent(o))
	}
	if busy >= saturated && t.readyForProcessor >= float64(par.Procs) {
		m.Cause = fmt.Sprintf("The service is overloaded: it gets more work than its %d processors can do. They were busy for %s of the time, and requests spent %s of theirs runnable, waiting for a processor, %s of them at a time.%s",
			par.Procs, units.Percent(min(1, busy)), share, units.Number(t.readyForProcessor), others)
		m.Fix = relief
		return m
	}
	m.Confidence = rule.Hint
	if busy >= saturated {
		m.Cause = fmt.Sprintf("The service is near the capacity of its %d processors: they were busy for %s of the time, and requests spent %s of theirs runnable, waiting for a processor. The queue is short, %s at a time.%s",
			par.Procs, units.Percent(min(1, busy)), share, units.Number(t.readyForProcessor), others)
		m.Fix = "Make requests cheaper (the findings in the code show where) or add cores before the load grows: more load would only make the queue longer."
		return m
	}
	m.Cause = fmt.Sprintf("Requests come in bursts: they spent %s of their time runnable, waiting for a processor, though processors were busy for only %s of the time.%s", share, units.Percent(busy), others)
	m.Fix = "Spread the bursts if the program causes them (timers that fire together, work split into many goroutines at once). If the load causes them, this latency is the price of having no more cores."
	return m
}

// answered compares requests sent with requests answered.
func answered(p *rule.Pass) []rule.Evidence {
	if p.Manifest == nil || p.Manifest.Load == nil {
		return nil
	}
	for _, ph := range p.Manifest.Phases {
		if ph.Name == recording.PhaseClean && ph.Seconds > 0 {
			return []rule.Evidence{{What: "requests a second", Value: fmt.Sprintf("%s sent, %s answered", units.Number(p.Manifest.Load.Rate), units.Number(float64(ph.Requests)/ph.Seconds))}}
		}
	}
	return nil
}

// waking reports that waking idle processors takes long compared with the work. On a machine that
// is busy with other processes these cause it, and it reports nothing.
func waking(p *rule.Pass, busy float64) []rule.Match {
	w := p.Trace.Parallelism.Wakeup
	length := p.Trace.Parallelism.Length
	ran := p.Trace.Parallelism.MeanRunning * length
	total := traced.LatencyTotal(p)
	if total <= 0 || busy >= saturated || float64(w.Count) < manyWakes*length || w.Total < leastWaking*ran || traced.OthersBusy(p) >= leastOthers {
		return nil
	}
	lines := make([]string, 0, 2)
	for _, l := range p.Trace.Sched.Lines {
		if len(lines) < cap(lines) && l.Why == "woken" && traced.SiteAt(p, l.Line) != nil {
			lines = append(lines, l.Line.String())
		}
	}
	at := ""
	if len(lines) > 0 {
		at = ", most of them at " + funcname.List(lines)
	}
	saved := min(w.Total, total)
	return []rule.Match{{
		Confidence: rule.Hint,
		Saving:     &rule.Saving{Seconds: 0.5 * saved, Low: 0.25 * saved, High: saved, Latency: total},
		Cause: strings.TrimSpace(fmt.Sprintf("Waking idle processors costs much compared with the work: %s times goroutines became runnable while a processor was idle%s, and half of them waited longer than %s for it.",
			units.Count(w.Count), at, units.Seconds(w.P50))),
		Fix: "Send work in larger pieces: batches instead of single items, and without goroutines in between that only forward.",
		Evidence: []rule.Evidence{
			{What: "runnable while a processor was idle", Value: units.Seconds(w.Total) + " in all", Command: evidence.ViewCommand(p, "sched")},
			{What: "processors busy", Value: units.Percent(busy), Command: evidence.ViewCommand(p, "parallelism")},
		},
	}}
}
