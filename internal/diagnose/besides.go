package diagnose

import (
	"math"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// spill is what the rest of a program gains, in CPU seconds, for each second of allocating that is
// saved, for any reason; caches that new memory fills are the likely one. Measured on services with
// other work than the examples, with several kinds of garbage (go run ./tools/cases -litter
// allocating): from 0.2 with sorting to 0.9 with a template, 0.52 on average in eight such pairs.
// The range is that of the pairs, because it is unknown which of them a program resembles. The
// slowdown by marking is in those figures. What the trace shows about it (collector.Drag) is not
// added: in the left-pad service it was 2.3 s for each second of the collector's work, with which
// hone predicted a saving of 13 % where 7.5 % was measured (6.1 to 9.0).
var spill = stats.Interval{Value: 0.5, Low: 0.2, High: 0.9}

// trapped is the same for each second in system calls: the kernel leaves cold caches and branch
// predictors to the code that called it (L. Soares and M. Stumm, "FlexSC: Flexible System Call
// Scheduling with Exception-Less System Calls", OSDI 2010). The others gained 0.29 s where a
// decoder read each byte with a call of its own (370-score-shelves of tools/field), and nothing
// that could be measured where each line was written with a call (logstat of examples/promises).
var trapped = stats.Interval{Value: 0.15, Low: 0, High: 0.4}

// mostSpilled is the largest part of their own CPU that the others gain by it. In those pairs the
// others had three quarters of the CPU or more, and gained up to a tenth of it. Where garbage takes
// more, they gain more: a fifth in a service in which one loop of concatenation took 63 %, and half
// in programs in which stack traces of errors took 59 % (350-map-sheets of tools/field) and calls
// that read a byte 65 % (370-score-shelves).
var mostSpilled = stats.Interval{Value: 0.2, Low: 0.1, High: 0.55}

// besides returns what a draft's fix saves in other code, as a share of CPU: garbage slows down
// other code, the first access to it waits for its pages, and the scheduler starts and stops the
// cycles of its collection, during which writes of pointers cost more. Only the CPU of the others
// can become less by that: the draft's own is in its cost.
func (e *engine) besides(d *draft) stats.Interval {
	if beside := d.rule.Claims().Beside; beside.High > 0 {
		return beside.Scale(d.share.Value)
	}
	t := e.totals
	others := math.Max(0, t.TotalSeconds-t.Collecting()-d.cost.CPUSeconds)
	spilled := stats.Add(spill.Scale(d.cost.MallocSeconds), trapped.Scale(kernelSeconds(d.rows.cpu)))
	made := atMost(spilled, mostSpilled.Scale(others)).Scale(1 / t.TotalSeconds)
	return stats.Mul(stats.Add(made, e.faultsOf(d), e.cyclesOf(d), e.barriersOf(d)), d.fraction)
}

// crowding is the part of their CPU that the others no longer need, by the square of the share
// that a fix saves, because nothing evicts their data from the caches, and their branches from the
// predictors, between two of their runs. The more of the time a line has, the longer is each
// interruption, and the colder the others continue. Measured where no fix touches the code, in the
// connection handling of net/http in pairs of services (tools/field): if the fix saved more than
// 80 % of the CPU, it took 50 % less per request in the median, 26 to 66 % for the middle half; if
// it saved 30 to 60 %, 22 % less, -12 to 70 %. Code that computes in a few kilobytes gains
// nothing: signatures and compression took as long as before (402-seed-seals, 370-score-shelves).
// Fixes that save less than half of the CPU of a computing service, measured to within a few
// percent, save what their lines cost (docs/promises.md): hence the square. A benchmark repeats
// one operation, whose code and data stay in the caches.
var crowding = stats.Interval{Value: 0.4, Low: 0, High: 0.8}

// withCrowding adds to what a fix saves what the others gain by it.
func withCrowding(saved stats.Interval) stats.Interval {
	s := saved.Value
	return clamp(stats.Add(saved, crowding.Scale(s*s*(1-s))))
}

// atMost limits an interval by another, value by value.
func atMost(i, most stats.Interval) stats.Interval {
	return stats.Interval{Value: math.Min(i.Value, most.Value), Low: math.Min(i.Low, most.Low), High: math.Min(i.High, most.High)}
}

// kernelSeconds returns the CPU time of rows in system calls.
func kernelSeconds(rows []*site.Row) float64 {
	value, _ := stacks.Sum(stacks.Select(rows, func(r *site.Row) bool {
		return len(r.Stack) > 0 && funcname.Match(r.Stack[0].Function, entries...)
	}))
	return float64(value) / 1e9
}

// barriers are the runtime's functions that note written pointers for the collector. They run only
// while it marks.
var barriers = []string{"gcWriteBarrier", "runtime.gcWriteBarrier*", "runtime.wbBufFlush*", "runtime.wbMove", "runtime.wbZero", "runtime.bulkBarrierPreWrite*"}

// barred is the part of the write barriers' time that goes with a number of cycles: the rest would
// also go to copying pointers without them.
var barred = stats.Interval{Value: 0.8, Low: 0.5, High: 1}

// barriersOf returns the part of the CPU in write barriers at other lines that a draft's
// allocations cause: the collector marks for as long as it has cycles, and those start when so many
// bytes have been allocated.
func (e *engine) barriersOf(d *draft) stats.Interval {
	if !(e.totals.TotalSeconds > 0) || d.cost.AllocBytes == 0 {
		return stats.Interval{}
	}
	own := map[*site.Row]bool{}
	for _, r := range d.rows.cpu {
		own[r] = true
	}
	value, _ := stacks.Sum(stacks.Select(e.barriers, func(r *site.Row) bool { return !own[r] }))
	return barred.Scale(math.Min(1, e.bytesShare(d.cost)) * float64(value) / 1e9 / e.totals.TotalSeconds)
}

// barrierRows returns the CPU rows in write barriers.
func (e *engine) barrierRows() (rows []*site.Row) {
	if e.pass.Table == nil {
		return nil
	}
	e.pass.EachRow(func(r *site.Row) {
		if slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, barriers...) }) {
			rows = append(rows, r)
		}
	})
	return rows
}
