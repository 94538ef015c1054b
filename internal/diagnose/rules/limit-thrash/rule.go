// Package limitthrash finds programs that collect all the time because of a memory limit.
package limitthrash

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of CPU that collection must take for the limit to be reported.
	leastShare = 0.05
	// leastRoom is the part of the room for garbage that GOGC would leave, below which the limit
	// does harm. Only the limit makes the goal smaller than GOGC asks for (runtime/mgcpacer.go,
	// heapGoalInternal).
	leastRoom = 0.7
)

// Rule is limit-thrash.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "limit-thrash",
		Kind:    rule.GC,
		Setting: true,
		Needs:   []rule.Need{rule.NeedMetrics},
		Title:   "GOMEMLIMIT makes the garbage collector run all the time",
		Doc:     doc,
		Finder:  finder.Program{Judge: find},
	}
}

const doc = `Near GOMEMLIMIT the collector starts earlier than GOGC asks for, so that the
process stays below the limit. The room for garbage is the limit minus live
memory, and the number of cycles is inversely proportional to that room. When
live memory comes close to the limit, the program collects all the time, until
the runtime caps the collector at half of the CPU and exceeds the limit.

Raise the limit to about twice the live memory, if there is memory for it; else
keep less memory live: the finding names the line that allocated most of it.
Unlike with GOGC alone, less live memory does save CPU here.

It is fine for a short peak at startup; the rule uses the heap goal of the
measured phase. A limit that is set as a guard and not reached costs nothing.

Seen in the field: golang/go#58106; the "death spirals" of the guide to the Go
garbage collector (go.dev/doc/gc-guide).`

func find(p *rule.Pass) []rule.Match {
	limit := collector.Limit(p)
	live := p.Metrics[recording.MetricLive]
	goal := p.Metrics[recording.MetricGoal]
	share := collector.Share(p)
	if limit <= 0 || live <= 0 || goal <= 0 || share < leastShare {
		return nil
	}
	gogc := float64(collector.GOGC(p))
	if gogc <= 0 {
		gogc = 100 // off, with a limit: compare with the default
	}
	room, wanted := math.Max(0, goal-live), live*gogc/100
	if room >= leastRoom*wanted {
		return nil
	}
	work := collector.Worth(p)
	saved := 1 - room/wanted
	m := rule.Match{
		Confidence: rule.Likely, // profile and metrics agree; only a run with another limit proves it
		Saving: &rule.Saving{
			Seconds: work.Value * saved,
			Low:     work.Low * saved * 0.6, // the goal changes during the phase, the metric is of its end
			High:    work.High,

			Collector: work.Value * saved,
		},
		Cause: fmt.Sprintf("GOMEMLIMIT=%s leaves %s for garbage beside %s of live memory; GOGC=%d would leave %s. The collector runs %s and takes %s of CPU.",
			units.Bytes(limit), units.Bytes(room), units.Bytes(live), int(gogc), units.Bytes(wanted), often(collector.Cycles(p)), units.Percent(share)),
		Fix: advice(p, limit, live, wanted),
		Evidence: []rule.Evidence{
			{What: "CPU in the collector", Value: units.Percent(share), Command: evidence.TopCommand(p, "cpu")},
			{What: "live heap, goal and limit", Value: fmt.Sprintf("%s, %s and %s", units.Bytes(live), units.Bytes(goal), units.Bytes(limit))},
		},
	}
	if gaveUp(p) {
		m.Evidence = append(m.Evidence, rule.Evidence{What: "the runtime capped the collector at half of the CPU", Value: "in the measured phase"})
	}
	collector.PlaceInCode(p, &m, collector.SetMemoryLimit, int64(limit))
	return []rule.Match{m}
}

func often(cycles float64) string {
	if cycles <= 0 {
		return "repeatedly"
	}
	return units.Number(cycles) + " times a second"
}

// advice returns the fix: a limit, if there is memory for it, and the line with the most live
// memory.
func advice(p *rule.Pass, limit, live, wanted float64) string {
	next := math.Ceil((limit+wanted)/(64<<20)) * (64 << 20)
	text := "Hold less"
	if m := p.Manifest.Machine; float64(m.MemoryBytes) >= 1.2*next && (m.CgroupBytes == 0 || float64(m.CgroupBytes) >= 1.1*next) {
		text = fmt.Sprintf("Raise GOMEMLIMIT to %dMiB, which is available, or keep less memory live", int64(next)>>20)
	}
	if s := collector.MostLive(p.Table); s != nil && p.Table.Totals.LiveBytes > 0 {
		text += fmt.Sprintf(": line %d in %s allocated %s of live memory", s.Line, s.Function,
			units.Percent(float64(s.Cost.LiveBytes)/float64(p.Table.Totals.LiveBytes)))
	}
	return text + "."
}

// gaveUp reports whether the runtime limited the collector's CPU in the clean phase. The metric is
// the number of the last cycle in which it did.
func gaveUp(p *rule.Pass) bool {
	last := p.Metrics["/gc/limiter/last-enabled:gc-cycle"]
	ph, ok := p.Phase(recording.PhaseClean)
	return last > 0 && ok && last > p.Metrics[recording.MetricCycles]-float64(ph.GCCycles+ph.ForcedGC)
}
