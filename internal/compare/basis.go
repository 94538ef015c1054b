package compare

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/sampling"
)

// perTotal compares shares of the total.
const perTotal = "total"

// exposure is what a profile's values can be divided by; 0 if it is unknown.
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
		// A benchmark runs for a given time, so costs are divided by its operations, not by its
		// runs. Operations of different benchmarks cannot be added up.
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

// basis is the denominator of costs, the same for both sides.
type basis struct {
	per, unit string
	scale     float64 // from the sample type's unit
	of        func(exposure) float64
}

// chooseBasis chooses requests if all profiles have them, otherwise time, otherwise totals. Values
// that describe a state (memory in use, goroutines) are compared without a denominator.
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

// Scale returns the factor that makes the costs of old comparable with those of new, and the
// denominator of both: "request", "operation", "run", "second" or "total"; "" for a state, which
// has none.
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

// notes returns what the intervals and the verdicts do not show.
func (d *Differ) notes(out *Diff, b basis, excess float64) []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case b.per == "second" && d.benchmarks():
		say("the profiles hold several benchmarks, each of which ran for a given time: costs are per second, so a benchmark that became faster shows the same cost; record each one alone with -bench")
	case b.per == perTotal:
		say("neither requests nor time are known on both sides: shares of the total are compared, so a program in which everything costs more by the same factor looks unchanged")
	case b.per == "second":
		say("the number of requests is not known on both sides: costs are per second, so more load looks like more cost")
	}
	switch d.scatter {
	case sampling.Unknown:
		if len(d.sides[0]) < 2 || len(d.sides[1]) < 2 {
			say("the profiles do not say how their values were sampled, so one profile per side gives no interval: give several with -old and -new")
		}
	case sampling.Delays:
		say("waits are assumed to be exponentially distributed: a profile has only their sum and number")
	case sampling.Counted:
		say("the values are counts, not samples: the intervals assume that they vary like Poisson counts")
	}
	if d.scatter != sampling.Unknown && (len(d.sides[0]) < 2 || len(d.sides[1]) < 2) {
		say("the intervals include the sampling error within a profile, but not the differences between runs: give several profiles on each side (-old, -new)")
	}
	if d.sets() && excess > 0 {
		say("beyond the sampling error, a row's cost differs by about %.0f %% between profiles of one side; the intervals include that", 100*excess)
	}
	if n := excluding(out); n > 0 {
		say("%d of the inconclusive rows have an interval without 0: among %d rows, some do by chance", n, len(out.Rows))
	}
	if old, new := d.leftOut(0), d.leftOut(1); max(old, new) > 0 {
		say("the cost of hone itself is left out: %.1f %% of the old side, %.1f %% of the new", 100*old, 100*new)
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

// leftOut returns the mean share of hone's own cost in a side's profiles.
func (d *Differ) leftOut(side int) float64 {
	var sum float64
	for _, s := range d.sides[side] {
		sum += s.LeftOut
	}
	return sum / float64(len(d.sides[side]))
}

// excluding counts the inconclusive rows that would have moved if they had been compared alone.
func excluding(d *Diff) (n int) {
	for _, r := range d.Rows {
		if r.Verdict == Unknown && (r.Difference.Low > 0 || r.Difference.High < 0) {
			n++
		}
	}
	return n
}

// benchmarks reports whether a profile belongs to a recording of benchmarks.
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
