// Package tinyheap finds programs that collect many times a second because they hold next to nothing.
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
	// kept is the part of a cycle's work that comes back with fewer cycles: sweeping goes with the memory that was
	// used, not with cycles, and a heap of 64 MiB no longer fits into the processor's caches (see doc).
	kept = 0.2
	// spread is how far the prediction may be off.
	spread = 0.25
)

// heaps are goals to choose from, best first. Beyond 64 MiB a program that holds 2 MiB hardly collects any more.
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

const doc = `However little a program holds, its heap is collected when 4 MiB are full (at
GOGC=100; the least heap scales with GOGC). A service that keeps one or two MiB
and allocates 200 MiB a second is therefore collected fifty times a second, and
each time pays for starting and ending the cycle, for scanning all stacks and
package variables, and for sync.Pools that are emptied again.

The number of cycles goes with one over the heap's goal, so a goal of 64 MiB in
place of 4 takes away nearly all of it, for 60 MiB. GOGC is a factor, though: if
live memory grows later, GOMEMLIMIT has to stop the heap from growing with it.

Tried on a service of 6 KiB and 119 objects a request: GOGC=1600 took the
collector from 12.5 % of CPU to 2.1 %, and a request from 21.0 µs of CPU to 19.2.

It is fine for programs that run for a second, and where many small processes
share a machine whose memory is full.

Seen in the field: golang/go#23044 asks for a least heap that can be set, for
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
	return []rule.Match{{
		Confidence: rule.Likely, // profile and metrics; only a run with the setting proves it
		Saving: &rule.Saving{
			Seconds: work.Value * saved,
			Low:     work.Low * saved * (1 - spread),
			High:    math.Min(work.High*saved*(1+spread), work.High),

			Collector: work.Value * saved,
		},
		Cause: fmt.Sprintf("The heap is collected whenever it reaches %s: %s times a second, for %s of CPU. Almost nothing is live, so the runtime's minimum heap size sets the GC rate.",
			units.Bytes(goal), units.Number(cycles), units.Percent(share)),
		Fix: fmt.Sprintf("Try GOGC=%d with GOMEMLIMIT=%dMiB: a heap of %s saves %s of the collector's work. The limit matters: GOGC is a factor, and the limit bounds the heap if live memory grows.",
			setting, int(guard(next, memory)/(1<<20)), units.Bytes(next), units.Percent(saved)),
		Evidence: append([]rule.Evidence{
			{What: "CPU in the collector", Value: units.Percent(share), Command: evidence.TopCommand(p, "cpu")},
			{What: "collections a second", Value: units.Number(cycles)},
			{What: "goal of the heap", Value: fmt.Sprintf("%s at GOGC=%d", units.Bytes(goal), collector.GOGC(p))},
			{What: "memory in use", Value: fmt.Sprintf("%s of %s (%s)", units.Bytes(collector.Held(p)), units.Bytes(memory), what)},
		}, collector.Slowed(p)...),
	}}
}

// choose returns the goal that memory allows; 0 for none.
func choose(p *rule.Pass, goal float64) float64 {
	memory, _ := collector.Memory(p)
	for _, next := range heaps {
		if next >= 2*goal && collector.Held(p)+next-goal <= gogc.MayUse*memory {
			return next
		}
	}
	return 0
}

// guard is a memory limit that leaves the new heap room to live in four times over, within the memory.
func guard(heap, memory float64) float64 { return math.Min(4*heap, 0.75*memory) }
