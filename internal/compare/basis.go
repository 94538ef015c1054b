package compare

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/sampling"
)

// perTotal: the share of the whole is compared.
const perTotal = "total"

// exposure is what a profile's values can be divided by; 0 where it is not known.
type exposure struct {
	counted float64 // requests, operations or runs
	unit    string  // of counted
	seconds float64
	total   float64
}

func exposureOf(s DiffSource) exposure {
	e := exposure{seconds: float64(s.Profile.DurationNanos) / 1e9, total: float64(s.Total)}
	if s.Recording == nil {
		return e
	}
	phase, ok := phaseOfPart(s.Recording, s.Part)
	if !ok {
		return e
	}
	if e.seconds <= 0 {
		e.seconds = phase.Seconds
	}
	switch {
	case s.Recording.Target.Bench != "":
		// A benchmark runs for a given time: not the runs count, but the operations; those of different benchmarks do not
		// add up.
		if len(phase.Benchmarks) == 1 {
			for _, sample := range phase.Benchmarks[0].Samples {
				e.counted += float64(sample.Iterations)
			}
			e.unit = s.Recording.Unit()
		}
	case phase.Requests > 0:
		e.counted, e.unit = float64(phase.Requests), s.Recording.Unit()
	case phase.Runs > 0:
		e.counted, e.unit = float64(phase.Runs), "run"
	}
	return e
}

// phaseOfPart finds the phase in which a part was recorded.
func phaseOfPart(m *recording.Manifest, part string) (recording.Phase, bool) {
	for _, p := range m.Parts {
		if p.Name == part && p.Phase != "" {
			return phase(*m, p.Phase)
		}
	}
	return recording.Phase{}, false
}

// basis is what costs are divided by, the same on both sides.
type basis struct {
	per, unit string
	scale     float64 // from the sample type's unit
	of        func(exposure) float64
}

// chooseBasis takes requests when all profiles have them, else time, else totals.
// What is a state and not a flow (memory in use, goroutines) is compared as it is.
func (d *Differ) chooseBasis(t profile.ValueType) basis {
	b := basis{unit: t.Unit, scale: 1}
	switch t.Unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds":
		b.unit = "s"
		b.scale = map[string]float64{"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1}[t.Unit]
	case "bytes":
		b.unit = "B"
	case "count":
		b.unit = strings.TrimPrefix(strings.TrimPrefix(t.Type, "alloc_"), "inuse_")
	}
	all := append(append([]diffSource(nil), d.sides[0]...), d.sides[1]...)
	counted, timed := true, true
	for _, s := range all {
		counted = counted && s.exposure.counted > 0 && s.exposure.unit == all[0].exposure.unit
		timed = timed && s.exposure.seconds > 0
	}
	switch {
	case isState(t.Type):
		b.of = func(exposure) float64 { return 1 }
	case counted:
		b.per, b.of = all[0].exposure.unit, func(e exposure) float64 { return e.counted }
	case timed:
		b.per, b.of = "second", func(e exposure) float64 { return e.seconds }
	default:
		b.per, b.unit, b.scale, b.of = perTotal, "share", 1, func(e exposure) float64 { return e.total }
	}
	return b
}

// Scale returns the factor that makes the costs of old comparable with those of new, and what both are then of: "request", "operation",
// "run", "second" or "total"; "" for a state, which is compared as it is.
func Scale(old, new DiffSource) (factor float64, per string) {
	d := Differ{}
	for i, s := range []DiffSource{old, new} {
		d.sides[i] = []diffSource{{DiffSource: s, exposure: exposureOf(s)}}
	}
	b := d.chooseBasis(new.Profile.SampleTypes[new.Index])
	from, to := b.of(exposureOf(old)), b.of(exposureOf(new))
	if from <= 0 || to <= 0 {
		return 1, b.per
	}
	return to / from, b.per
}

func isState(sampleType string) bool {
	switch sampleType {
	case "goroutine", "goroutines", "threadcreate", "goroutineleak":
		return true
	}
	return strings.HasPrefix(sampleType, "inuse_")
}

// notes are what the intervals and the verdicts do not say themselves.
func (d *Differ) notes(out *Diff, b basis, excess float64) []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case b.per == "second" && d.benchmarks():
		say("several benchmarks, each of which ran for a given time: costs are per second, so one that became faster shows the same cost; record them one by one with -bench")
	case b.per == perTotal:
		say("neither requests nor time are known on both sides: shares of the total are compared, so a program that spends more on everything alike looks the same")
	case b.per == "second":
		say("no requests are known on both sides: costs are per second, so more load looks like more cost")
	}
	switch d.scatter {
	case sampling.Unknown:
		if len(d.sides[0]) < 2 || len(d.sides[1]) < 2 {
			say("the profiles do not say how their values were sampled, so one of them a side bounds nothing: give several with -old and -new")
		}
	case sampling.Delays:
		say("waits are taken as exponentially distributed: a profile has only their sum and number")
	case sampling.Counted:
		say("nothing was sampled: the intervals take what is counted to come and go as a Poisson count does")
	}
	if d.scatter != sampling.Unknown && (len(d.sides[0]) < 2 || len(d.sides[1]) < 2) {
		say("the intervals hold what sampling does within a profile, not how runs differ: that takes several profiles on each side (-old, -new)")
	}
	if d.sets() && excess > 0 {
		say("a row's cost differs by about %.0f %% from profile to profile of one side beyond what sampling does; the intervals hold that", 100*excess)
	}
	if n := excluding(out); n > 0 {
		say("%d of the rows that cannot tell have an interval without 0: among %d rows some do by chance", n, len(out.Rows))
	}
	if old, new := d.leftOut(0), d.leftOut(1); max(old, new) > 0 {
		say("what hone itself did is left out: %.1f %% of the old side, %.1f %% of the new", 100*old, 100*new)
	}
	a, z := d.sides[0][0].Recording, d.sides[1][0].Recording
	if a == nil || z == nil {
		return notes
	}
	if a.Machine.CPU != z.Machine.CPU || a.Machine.Cores != z.Machine.Cores {
		say("the two ran on different machines")
	}
	if a.Runtime.Go != z.Runtime.Go {
		say("the two were built with %s and %s", a.Runtime.Go, z.Runtime.Go)
	}
	return notes
}

// leftOut is the mean share of a side's profiles that was hone's own.
func (d *Differ) leftOut(side int) float64 {
	var sum float64
	for _, s := range d.sides[side] {
		sum += s.LeftOut
	}
	return sum / float64(len(d.sides[side]))
}

// excluding counts the rows that would have moved, were they the only ones looked at.
func excluding(d *Diff) (n int) {
	for _, r := range d.Rows {
		if r.Verdict == Unknown && (r.Difference.Low > 0 || r.Difference.High < 0) {
			n++
		}
	}
	return n
}

// benchmarks reports whether a profile is of a recording of benchmarks.
func (d *Differ) benchmarks() bool {
	for _, side := range d.sides {
		for _, s := range side {
			if s.Recording != nil && s.Recording.Target.Bench != "" {
				return true
			}
		}
	}
	return false
}
