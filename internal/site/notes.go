package site

import (
	"fmt"

	"github.com/hone-go/hone/stats"
)

// Below these counts a note states how little is known.
const (
	fewSamples     = 1000
	fewCollections = 50
)

// notes returns what limits the table, in sentences.
func (j *joiner) notes(in *Input, t *Table) (notes []string) {
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	tot := &t.Totals
	switch {
	case in.CPU == nil:
		say("no CPU profile: no CPU cost is known")
	case tot.CPUSamples == 0:
		say("the CPU profile holds no samples of the program: it used less than %.0f ms of CPU, or profiling signals did not reach it", 1e3*t.pricing.period)
	case tot.CPUSamples < fewSamples:
		five := stats.Share((tot.CPUSamples+10)/20, tot.CPUSamples)
		say("only %d CPU samples (%.1f CPU-seconds): a line measured at 5 %% takes %.1f to %.1f %%; record longer or under more load",
			tot.CPUSamples, tot.TotalSeconds, 100*five.Low, 100*five.High)
	}
	if in.CPU != nil {
		j.noteCollector(in, t, say)
	}
	for k, n := range j.dropped {
		if n > 0 {
			say("%s: %d stacks below zero left out; the two snapshots do not belong together", columns[k].profile, n)
		}
	}
	if lost := in.UsageSeconds - (tot.TotalSeconds + tot.ProbeSeconds); in.CPU != nil && in.UsageSeconds > 0 {
		// The profile counts samples, so a process with little CPU time scatters.
		all := stats.Poisson(tot.CPUSamples).Scale(t.pricing.period)
		if lost > 0.1*in.UsageSeconds && in.UsageSeconds > all.High+tot.ProbeSeconds {
			say("the CPU profile holds %.2f CPU-seconds, the kernel counted %.2f: samples were lost (C code, a throttled machine), shares are of the samples that remain",
				tot.TotalSeconds+tot.ProbeSeconds, in.UsageSeconds)
		}
	}
	return notes
}

// noteCollector states what limits the price of garbage collection.
func (j *joiner) noteCollector(in *Input, t *Table, say func(string, ...any)) {
	p := &t.pricing
	switch {
	case in.Allocs == nil:
		say("no allocs profile: the collector's %.2f CPU-seconds cannot be charged to lines", p.collecting)
	case !p.hasAllocs && p.samples > 0:
		say("the allocs profile is empty: the collector's %.2f CPU-seconds cannot be charged to lines", p.collecting)
	case p.hasAllocs && p.samples > 0 && p.samples < fewCollections:
		work := t.GCWork()
		say("only %d samples of garbage collection: its work is %.2f to %.2f CPU-seconds", p.samples, work.Low, work.High)
	}
	if j.coarse > 0 {
		say("the runtime does not distinguish idle marking from other marking (Go before 1.22): both count as mark workers")
	}
}
