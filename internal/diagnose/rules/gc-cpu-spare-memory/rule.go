// Package gccpusparememory finds programs whose garbage collector takes much CPU while memory is
// unused.
package gccpusparememory

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

// leastSaved is the minimum part of CPU that a trial must save to be worth the memory.
const leastSaved = 0.01

// Rule is gc-cpu-spare-memory.
func Rule() rule.Rule {
	return rule.Rule{
		ID:              "gc-cpu-spare-memory",
		Kind:            rule.Config,
		SkipsBenchmarks: true,
		Setting:         true,
		Needs:           []rule.Need{rule.NeedMetrics},
		Title:           "The garbage collector takes CPU while memory is unused",
		Doc:             doc,
		Finder:          finder.Program{Judge: find},
	}
}

const doc = `With GOGC=100 the runtime collects whenever the program has allocated as much as
was live after the last cycle. The work of a cycle depends on live memory, not
on garbage, so a larger heap is collected less often for the same work per
cycle: at GOGC=g' the work is g/g' of that at g. The price is memory, live ×
(g'−g)/100.

When live memory is small compared to the memory of the machine or container,
that price is negligible. GOMEMLIMIT then guards against a burst of live memory:
near the limit the runtime collects more often instead of running out of memory.

It is fine to keep the setting when other processes need the memory, and when
live memory comes in bursts that the recording did not see.

The prediction was tested by experiment: collection of 1.11 to 1.26 CPU-seconds
at GOGC=100 gave a prediction of 0.88 s less at 400; 0.94 s less were measured.
The rest of a program mostly runs faster too: six other services gained another
0.1 to 1.4 seconds for each second saved. These figures are rough, so the
prediction uses 0.3, with an interval of 0 to 0.7. A service that hone starts
and loads runs with both settings, alternating, at the end of the recording:
prediction and trial are weighted by their precision. If the interval of a trial
contains zero, hone does not advise the setting.

Seen in the field: ethereum/go-ethereum#31441; "Optimizing a Golang service to
reduce over 40% CPU" (Coralogix), where GOGC=2000 cut the collector's share of
CPU from 29 % to 13 %.`

func find(p *rule.Pass) []rule.Match {
	s, ok := state(p)
	if !ok || s.share < gogc.LeastShare || collector.Refuted(p) {
		return nil
	}
	if _, _, tiny := collector.TinyHeap(p); tiny {
		return nil // tiny-heap gives better advice
	}
	next, trial := s.Larger(), p.Manifest.Trial
	if trial != nil {
		next = trial.GOGC
	}
	if next <= s.GOGC {
		return nil
	}
	m := rule.Match{
		Cause: fmt.Sprintf("Garbage collection takes %s of CPU, while %s are live and %s of memory are available (%s). GOGC=%d collects whenever %s have been allocated.",
			units.Percent(s.share), units.Bytes(s.Live), units.Bytes(s.Memory), s.memoryIs, s.GOGC, units.Bytes(s.Paced()*float64(s.GOGC)/100)),
		Fix: fmt.Sprintf("Try GOGC=%d%s: about %s more memory for %s of the collector's work.",
			next, s.guarded(), units.Bytes(s.Price(next)), units.Percent(s.less(next))),
		Evidence:   s.evidence(p),
		Confidence: rule.Likely, // only a run with the setting proves it
	}
	promise := s.expected(p, next)
	if trial != nil {
		saved := trial.Saved()
		s.weigh(&m, trial, saved)
		total := p.Table.Totals.TotalSeconds
		if promise = stats.Combine(promise, saved.Scale(total)); promise.Value < leastSaved*total {
			return nil // too little for the memory
		}
	}
	m.Saving = &rule.Saving{Seconds: promise.Value, Low: math.Max(0, promise.Low), High: promise.High, Collector: promise.Value}
	m.Evidence = append(m.Evidence, collector.Slowed(p)...)
	collector.PlaceInCode(p, &m, collector.SetGCPercent, int64(s.GOGC))
	return []rule.Match{m}
}

// weigh adds the evidence of a trial, which proves the setting if the saving is clear.
func (s heapState) weigh(m *rule.Match, trial *recording.Trial, saved stats.Interval) {
	if saved.Low >= leastSaved {
		m.Confidence = rule.Proved
		m.Fix = fmt.Sprintf("Set GOGC=%d%s: in a trial under the same load, a request took %s less CPU, for about %s more memory.",
			trial.GOGC, s.guarded(), units.Percent(saved.Value), units.Bytes(s.Price(trial.GOGC)))
	}
	m.Evidence = append(m.Evidence, rule.Evidence{
		What: fmt.Sprintf("trial of GOGC=%d, %d alternating turns", trial.GOGC, len(trial.Turns)),
		Value: fmt.Sprintf("%s less CPU per request than at GOGC=%d (%s to %s)",
			units.Percent(saved.Value), s.GOGC, units.Percent(saved.Low), units.Percent(saved.High)),
	})
}

// less is the part of the collector's work that another GOGC saves.
func (s heapState) less(next int) float64 { return 1 - float64(s.GOGC)/float64(next) }

// expected returns the saving that profile and metrics predict, in seconds.
func (s heapState) expected(p *rule.Pass, next int) stats.Interval {
	work := stats.Mul(p.Table.CycleWork(), stats.Add(stats.Interval{Value: 1, Low: 1, High: 1}, collector.Drag(p), collector.Outside()))
	// The model is accurate to about a tenth (see doc); sampling adds its own interval, independent
	// of that.
	less := s.less(next)
	promise := stats.Mul(work, stats.Interval{Value: less, Low: less * 0.85, High: math.Min(less*1.15, 1)})
	promise.High = math.Min(promise.High, work.High)
	return promise
}

// heapState is the facts that the decision depends on.
type heapState struct {
	gogc.Heap
	share    float64 // of CPU that collection takes
	memoryIs string  // the source of the figure for available memory
	limited  bool    // GOMEMLIMIT is set
}

// state returns the facts; false when one is not known.
func state(p *rule.Pass) (heapState, bool) {
	var s heapState
	if p.Manifest == nil {
		return s, false
	}
	s.share = collector.Share(p)
	s.GOGC = collector.GOGC(p)
	s.Live = p.Metrics[recording.MetricLive]
	if s.Live <= 0 {
		s.Live = float64(p.Table.Totals.LiveBytes)
	}
	s.Used = collector.Held(p)
	s.Memory, s.memoryIs = collector.Memory(p)
	s.limited = collector.Limit(p) > 0
	return s, s.GOGC > 0 && s.Live > 0 && s.Used > 0 && s.Memory > 0
}

// guarded returns the words for the guard that keeps a larger heap from taking all memory.
func (s heapState) guarded() string {
	if s.limited {
		return ", keeping GOMEMLIMIT as the guard"
	}
	return fmt.Sprintf(" with GOMEMLIMIT=%dMiB as a guard against bursts", s.Guard()>>20)
}

func (s heapState) evidence(p *rule.Pass) []rule.Evidence {
	t := p.Table.Totals
	ev := []rule.Evidence{
		{
			What: "CPU in the collector",
			Value: fmt.Sprintf("%s: mark workers %s, assists %s, sweep and cycle %s",
				units.Percent(s.share), units.Percent((t.D+t.I)/t.TotalSeconds), units.Percent(t.A/t.TotalSeconds), units.Percent(t.W/t.TotalSeconds)),
			Command: evidence.TopCommand(p, "cpu"),
		},
		{What: "live heap after a cycle", Value: units.Bytes(s.Live)},
		{What: "memory in use", Value: fmt.Sprintf("%s of %s (%s)", units.Bytes(s.Used), units.Bytes(s.Memory), s.memoryIs)},
	}
	if line, ok := mostExpensive(p.Table); ok {
		ev = append(ev, rule.Evidence{What: "the line that allocates most", Value: line, Command: evidence.TopCommand(p, "alloc_space")})
	}
	return ev
}

// mostExpensive returns the site that allocates most bytes.
func mostExpensive(t *site.Table) (string, bool) {
	var best *site.Site
	for _, s := range t.Sites {
		if best == nil || s.Cost.AllocBytes > best.Cost.AllocBytes {
			best = s
		}
	}
	if best == nil || best.Cost.AllocBytes == 0 || t.Totals.AllocBytes == 0 {
		return "", false
	}
	return fmt.Sprintf("%s, line %d: %s of all bytes", best.Function, best.Line,
		units.Percent(float64(best.Cost.AllocBytes)/float64(t.Totals.AllocBytes))), true
}
