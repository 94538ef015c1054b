package collector

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

// GOGC returns the setting that the program ran with, in percent; -1 when collection is off, 0 when
// it is not known.
func GOGC(p *rule.Pass) int {
	if p.Manifest != nil && p.Manifest.Runtime.GOGC != 0 {
		return p.Manifest.Runtime.GOGC
	}
	switch g := p.Metrics[recording.MetricGOGC]; {
	case g <= 0:
		return 0
	case g >= math.MaxInt32:
		return -1
	default:
		return int(g)
	}
}

// Limit returns GOMEMLIMIT in bytes; 0 when there is none.
func Limit(p *rule.Pass) float64 {
	if p.Manifest == nil {
		return 0
	}
	return p.Manifest.Limit()
}

// Memory returns how many bytes the process may use, and what sets that limit. 0 when unknown.
func Memory(p *rule.Pass) (bytes float64, what string) {
	if p.Manifest == nil {
		return 0, ""
	}
	return p.Manifest.Memory()
}

// Held returns the memory of the process in bytes; 0 when unknown.
func Held(p *rule.Pass) float64 {
	if p.Manifest == nil {
		return 0
	}
	return p.Manifest.Held(p.Metrics[recording.MetricTotal], p.Metrics[recording.MetricReleased])
}

// Cycles returns the number of collections a second, in the clean phase if there is one; 0 when
// unknown.
func Cycles(p *rule.Pass) float64 {
	for _, name := range []string{recording.PhaseClean, recording.PhaseCPU} {
		if ph, ok := p.Phase(name); ok && ph.Seconds > 0 && ph.GCCycles > 0 {
			return float64(ph.GCCycles) / ph.Seconds
		}
	}
	return 0
}

// Share returns the share of CPU that garbage collection takes, without idle marking; 0 when
// unknown.
func Share(p *rule.Pass) float64 {
	if p.Table == nil || p.Table.Totals.TotalSeconds <= 0 {
		return 0
	}
	t := p.Table.Totals
	return t.Collecting() / t.TotalSeconds
}

// TinyHeap reports whether the runtime's minimum heap size decides when to collect, many times a
// second. goal is the heap goal in bytes, cycles is the number of collections a second. The size of
// live memory then has little effect.
func TinyHeap(p *rule.Pass) (goal, cycles float64, ok bool) {
	goal, cycles = p.Metrics[recording.MetricGoal], Cycles(p)
	return goal, cycles, gogc.Tiny(GOGC(p), goal, cycles)
}

// Refuted reports whether the recording tried a larger GOGC and did not show that it saves CPU: the
// trial's interval contains zero, is unknown, or is below it. Then no rule advises a larger heap.
func Refuted(p *rule.Pass) bool {
	if p.Manifest == nil || p.Manifest.Trial == nil {
		return false
	}
	saved := p.Manifest.Trial.Saved()
	return !saved.Known() || saved.Low <= 0
}

// Drag returns how many CPU seconds the program loses for each second that the collector works, in
// addition to that second: while it marks, the program runs slower (see [parallelism.Marking]). It
// is measured by the CPU samples in the trace, so time without a core is not part of it. Its value
// is 0 when they do not prove an effect, and its upper bound is what they leave possible. It is 0
// when the trace has too few samples.
func Drag(p *rule.Pass) stats.Interval {
	if p.Trace == nil || p.Trace.Parallelism == nil || p.Table == nil {
		return stats.Interval{}
	}
	work, total := p.Table.GCWork(), p.Table.Totals.TotalSeconds
	if !(work.Value > 0) || total <= 0 {
		return stats.Interval{}
	}
	return p.Trace.Parallelism.Marking.LostCPU.Scale(total / work.Value)
}

// Outside returns what a program gains, in CPU seconds, for each second of the collector's work
// that is saved, in addition to what [Drag] measures while it marks. The reason was not measured;
// sweeping and emptied caches are guesses. Six services with other work than the examples gained
// 0.14, 0.19, 0.38, 0.50, 0.95 and 1.38 in all when GOGC went from 100 to 400 (go run ./tools/cases
// -litter collecting), most of them with an error of half a second or more. The best known (0.14,
// to 0.1) and the worst known (1.38, to 0.6) have weights accordingly. So the middle and the
// interval are a judgement, not computed.
func Outside() stats.Interval { return stats.Interval{Value: 0.3, Low: 0, High: 0.7} }

// Worth returns what the collector's work costs the program, in CPU seconds: its own work, and the
// slowdown of the program.
func Worth(p *rule.Pass) stats.Interval {
	drag := Drag(p)
	return stats.Mul(p.Table.CycleWork(), stats.Interval{Value: 1 + drag.Value, Low: 1 + drag.Low, High: 1 + drag.High})
}

// Slowed returns the evidence for Drag; none when there is none.
func Slowed(p *rule.Pass) []rule.Evidence {
	if !(Drag(p).Value > 0) {
		return nil
	}
	m := p.Trace.Parallelism.Marking
	by := m.SlowerByCPU
	return []rule.Evidence{{
		What:    "the program's own work for a second of CPU while the collector marks",
		Value:   fmt.Sprintf("%s times slower (%s to %s), for %s of the time", units.Number(by.Value), units.Number(by.Low), units.Number(by.High), units.Percent(m.Share)),
		Command: evidence.ViewCommand(p, "parallelism"),
	}}
}

// MostLive returns the site that allocated most of the live memory; nil when there is none.
func MostLive(t *site.Table) *site.Site {
	var best *site.Site
	for _, s := range t.Sites {
		if s.Cost.LiveBytes > 0 && (best == nil || s.Cost.LiveBytes > best.Cost.LiveBytes) {
			best = s
		}
	}
	return best
}
