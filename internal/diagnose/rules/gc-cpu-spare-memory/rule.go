// Package gcsparememory finds collectors that work hard while memory lies idle.
package gcsparememory

import (
	"context"
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

const (
	// leastShare of CPU that collection must take before a setting is worth a word.
	leastShare = 0.05
	// mayUse is the part of the memory that a larger heap may fill: the rest is for
	// bursts of live memory and for the neighbours.
	mayUse = 0.5
	// guard is the part of the memory at which GOMEMLIMIT makes the collector work again.
	guard = 0.75
	// leastHeap is the heap below which the runtime does not collect at GOGC=100;
	// it scales with GOGC (runtime/mgcpacer.go, heapMinimum).
	leastHeap = 4 << 20
)

// outside is what a program gains, in CPU seconds, for each second of the collector's work that is
// saved, beside what [rule.Pass.Drag] sees while it marks. Why was not measured; sweeping and
// emptied caches are guesses. Six services of other work than the examples gained 0.14, 0.19, 0.38, 0.50,
// 0.95 and 1.38 in all where GOGC went from 100 to 400 (go run ./internal/cases -litter), most of
// them known to half a second or worse only; the best known (0.14, to 0.1) and the worst (1.38, to 0.6)
// count accordingly. So the middle and the interval are a judgement, not a computed one.
var outside = stats.Interval{Value: 0.3, Low: 0, High: 0.7}

// candidates for GOGC, best first. Beyond 400 the next doubling saves an eighth
// of the work for twice the memory.
var candidates = []int{400, 300, 200}

// Rule is gc-cpu-spare-memory.
func Rule() rule.Rule {
	return rule.Rule{
		ID:       "gc-cpu-spare-memory",
		Kind:     rule.Config,
		Needs:    []rule.Need{rule.NeedMetrics},
		Title:    "The garbage collector works hard while memory is idle",
		Doc:      doc,
		Fraction: rule.Fraction{Expect: 1, Low: 1, High: 1}, // unused: the rule states its saving
		Find:     find,
	}
}

const doc = `With GOGC=100 the heap is collected whenever as much has been allocated as was
live after the last cycle. The work of a cycle depends on what is live, not on
what is garbage, so a heap that may grow further is collected less often:
at GOGC=g' the work is g/g' of that at g. The price is memory, live × (g'−g)/100.

When live memory is small against what the machine or container has, that
price is nothing and the CPU is a gift. GOMEMLIMIT then guards against a burst of
live memory: near the limit the collector works more again, instead of
running out.

It is fine to leave it when memory is shared with neighbours who need it, and
when live memory comes in bursts that the recording did not see.

The prediction was tested by experiment: collection of 1.11 to 1.26 CPU-seconds
at GOGC=100 promised 0.88 s less at 400, and 0.94 s were measured. The rest of a
program mostly runs faster, too: six other services gained another 0.1 to 1.4
seconds for each one saved, so roughly that the promise takes 0.3, or 0 to 0.7.

Seen in the field: ethereum/go-ethereum#31441; "Optimizing a Golang service to
reduce over 40% CPU" (Coralogix), where GOGC=2000 cut the collector's part from
29 % to 13 %.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	s, ok := state(p)
	if !ok || s.share < leastShare {
		return nil, nil
	}
	if _, _, tiny := p.TinyHeap(); tiny {
		return nil, nil // tiny-heap knows better what to set
	}
	next := s.choose()
	if next == 0 {
		return nil, nil
	}
	work := stats.Mul(p.Table.GCWork(), stats.Add(stats.Interval{Value: 1, Low: 1, High: 1}, p.Drag(), outside))
	saved := 1 - float64(s.gogc)/float64(next)
	// The model holds to about a tenth (see Doc); sampling adds its own interval, independent of that.
	promise := stats.Mul(work, stats.Interval{Value: saved, Low: saved * 0.85, High: math.Min(saved*1.15, 1)})
	m := rule.Match{
		Confidence: rule.Likely, // profile and metrics; only a run with the setting proves it
		Saving: &rule.Saving{
			Seconds: promise.Value,
			Low:     promise.Low,
			High:    math.Min(promise.High, work.High),
		},
		Cause: fmt.Sprintf("Collecting garbage takes %s of CPU, while %s are live and %s of memory are there (%s): GOGC=%d collects whenever %s have been allocated.",
			rule.Percent(s.share), rule.Bytes(s.live), rule.Bytes(s.memory), s.memoryIs, s.gogc, rule.Bytes(s.heap()*float64(s.gogc)/100)),
		Fix:      s.advice(next),
		Evidence: append(s.evidence(p), p.Slowed()...),
	}
	return []rule.Match{m}, nil
}

// heapState is what the decision rests on.
type heapState struct {
	share    float64 // of CPU that collection takes
	gogc     int
	live     float64 // bytes after the last cycle
	used     float64 // bytes that the process holds now
	memory   float64 // bytes that it may hold
	memoryIs string  // what says so
	limited  bool    // GOMEMLIMIT is set
}

// state gathers the facts; false when one is not known.
func state(p *rule.Pass) (heapState, bool) {
	t := p.Table.Totals
	var s heapState
	if p.Manifest == nil || t.TotalSeconds <= 0 {
		return s, false
	}
	s.share = t.Collecting() / t.TotalSeconds
	s.gogc = p.Manifest.Runtime.GOGC
	if g := p.Metrics["/gc/gogc:percent"]; s.gogc == 0 && g > 0 && g < math.MaxInt32 {
		s.gogc = int(g)
	}
	if s.gogc <= 0 {
		return s, false // off, or not known
	}
	s.live = p.Metrics["/gc/heap/live:bytes"]
	if s.live <= 0 {
		s.live = float64(t.LiveBytes)
	}
	s.used = p.Metrics["/memory/classes/total:bytes"] - p.Metrics["/memory/classes/heap/released:bytes"]
	for _, ph := range p.Manifest.Phases {
		s.used = math.Max(s.used, float64(ph.RSSBytes))
	}
	s.memory, s.memoryIs, s.limited = memory(p)
	return s, s.live > 0 && s.used > 0 && s.memory > 0
}

// memory is what the process may fill: the least of its limits and the machine.
func memory(p *rule.Pass) (bytes float64, what string, limited bool) {
	m := p.Manifest
	bytes, what = float64(m.Machine.MemoryBytes), "the machine's"
	if c := float64(m.Machine.CgroupBytes); c > 0 && (bytes == 0 || c < bytes) {
		bytes, what = c, "the cgroup's limit"
	}
	if l := m.Runtime.GOMEMLIMIT; l > 0 && l < math.MaxInt64 {
		limited = true
		if bytes == 0 || float64(l) < bytes {
			bytes, what = float64(l), "GOMEMLIMIT"
		}
	}
	return bytes, what, limited
}

// heap is the live heap that pacing goes by.
func (s heapState) heap() float64 { return math.Max(s.live, leastHeap) }

// price is the memory that another GOGC takes on top.
func (s heapState) price(next int) float64 { return s.heap() * float64(next-s.gogc) / 100 }

// choose returns the best GOGC that the memory allows, 0 for none.
func (s heapState) choose() int {
	for _, next := range candidates {
		if next > s.gogc && s.used+s.price(next) <= mayUse*s.memory {
			return next
		}
	}
	return 0
}

func (s heapState) advice(next int) string {
	text := fmt.Sprintf("Try GOGC=%d", next)
	if s.limited {
		text += ", keeping GOMEMLIMIT as the guard"
	} else {
		text += fmt.Sprintf(" with GOMEMLIMIT=%dMiB as a guard against bursts", plain(guard*s.memory/(1<<20)))
	}
	return text + fmt.Sprintf(": about %s more memory for %s of the collector's work.",
		rule.Bytes(s.price(next)), rule.Percent(1-float64(s.gogc)/float64(next)))
}

// plain cuts a number down to two digits that count: a guard needs no more.
func plain(x float64) int64 {
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(x, 1)))-1))
	return int64(math.Floor(x/unit) * unit)
}

func (s heapState) evidence(p *rule.Pass) []rule.Evidence {
	t := p.Table.Totals
	ev := []rule.Evidence{
		{
			What: "CPU in the collector",
			Value: fmt.Sprintf("%s: mark workers %s, assists %s, sweep and cycle %s",
				rule.Percent(s.share), rule.Percent((t.D+t.I)/t.TotalSeconds), rule.Percent(t.A/t.TotalSeconds), rule.Percent(t.W/t.TotalSeconds)),
			Command: p.Top("cpu"),
		},
		{What: "live heap after a cycle", Value: rule.Bytes(s.live)},
		{What: "memory in use", Value: fmt.Sprintf("%s of %s (%s)", rule.Bytes(s.used), rule.Bytes(s.memory), s.memoryIs)},
	}
	if line, ok := dearest(p.Table); ok {
		ev = append(ev, rule.Evidence{What: "the line that allocates most", Value: line, Command: p.Top("alloc_space")})
	}
	return ev
}

// dearest names the site with the most bytes.
func dearest(t *site.Table) (string, bool) {
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
		rule.Percent(float64(best.Cost.AllocBytes)/float64(t.Totals.AllocBytes))), true
}
