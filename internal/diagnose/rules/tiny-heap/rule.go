// Package tinyheap finds programs that collect many times a second because almost nothing is live.
package tinyheap

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/units"
)

const (
	// kept is the part of a cycle's work that fewer cycles do not save: sweeping depends on the
	// memory that was used, not on cycles, and a heap of 64 MiB no longer fits into the processor's
	// caches (see doc).
	kept = 0.2
	// spread is the relative error of the prediction.
	spread = 0.25
)

// heaps are goals to choose from, best first. Above 64 MiB a program with 2 MiB live hardly
// collects any more.
var heaps = []float64{64 << 20, 32 << 20, 16 << 20}

// Rule is tiny-heap.
func Rule() rule.Rule {
	return rule.Rule{
		ID:              "tiny-heap",
		Kind:            rule.Config,
		SkipsBenchmarks: true,
		Setting:         true,
		Needs:           []rule.Need{rule.NeedMetrics},
		Title:           "A tiny heap is collected many times a second",
		Doc:             doc,
		Finder:          finder.Program{Judge: find},
	}
}

const doc = `However little is live, the runtime collects when the heap reaches 4 MiB (at
GOGC=100; the minimum heap scales with GOGC). A service that keeps one or two
MiB and allocates 200 MiB a second therefore collects fifty times a second, and
pays each time for starting and finishing the cycle, for scanning all stacks and
package variables, and for emptied sync.Pools.

The number of cycles is inversely proportional to the heap goal, so a goal of 64
MiB instead of 4 saves nearly all of this, for 60 MiB. GOGC is a factor, though:
if live memory grows later, GOMEMLIMIT has to keep the heap from growing with
it.

In a service that allocates 6 KiB in 119 objects per request, GOGC=1600 reduced
the collector's share from 12.5 % of CPU to 2.1 %, and the CPU of a request from
21.0 µs to 19.2.

It is fine for programs that run for a second, and where many small processes
share a machine whose memory is full.

Seen in the field: golang/go#23044 proposes a configurable minimum heap, for
services that collect all the time with a few MiB live.`

func find(p *rule.Pass) []rule.Match {
	goal, cycles, ok := collector.TinyHeap(p)
	share := collector.Share(p)
	if !ok || share < gogc.LeastShare || collector.Refuted(p) {
		return nil
	}
	next := choose(p, goal)
	if next == 0 {
		return nil
	}
	setting := int(math.Ceil(next/gogc.LeastHeap)) * 100
	memory, what := collector.Memory(p)
	work := collector.Worth(p)
	saved := (1 - goal/next) * (1 - kept)
	m := rule.Match{
		Confidence: rule.Likely, // profile and metrics agree; only a run with the setting proves it
		Saving: &rule.Saving{
			Seconds: work.Value * saved,
			Low:     work.Low * saved * (1 - spread),
			High:    math.Min(work.High*saved*(1+spread), work.High),

			Collector: work.Value * saved,
		},
		Cause: fmt.Sprintf("The heap is collected whenever it reaches %s: %s times a second, for %s of CPU. Almost nothing is live, so the runtime's minimum heap size sets the GC rate.",
			units.Bytes(goal), units.Number(cycles), units.Percent(share)),
		Fix: fmt.Sprintf("Try GOGC=%d with GOMEMLIMIT=%dMiB: a heap of %s saves %s of the collector's work. Set the limit, too: GOGC is a factor, and only the limit bounds the heap if live memory grows.",
			setting, int(guard(next, memory)/(1<<20)), units.Bytes(next), units.Percent(saved)),
		Evidence: append([]rule.Evidence{
			{What: "CPU in the collector", Value: units.Percent(share), Command: evidence.TopCommand(p, "cpu")},
			{What: "collections a second", Value: units.Number(cycles)},
			{What: "heap goal", Value: fmt.Sprintf("%s at GOGC=%d", units.Bytes(goal), collector.GOGC(p))},
			{What: "memory in use", Value: fmt.Sprintf("%s of %s (%s)", units.Bytes(collector.Held(p)), units.Bytes(memory), what)},
		}, collector.Slowed(p)...),
	}
	collector.PlaceInCode(p, &m, collector.SetGCPercent, int64(collector.GOGC(p)))
	return []rule.Match{m}
}

// choose returns the goal that the memory allows; 0 for none.
func choose(p *rule.Pass, goal float64) float64 {
	memory, _ := collector.Memory(p)
	for _, next := range heaps {
		if next >= 2*goal && collector.Held(p)+next-goal <= gogc.MayUse*memory {
			return next
		}
	}
	return 0
}

// guard returns a memory limit, within the memory, that leaves room for four times the new heap.
func guard(heap, memory float64) float64 { return math.Min(4*heap, 0.75*memory) }
