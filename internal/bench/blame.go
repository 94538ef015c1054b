package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/trial"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/stats"
)

// Grown is a function whose own cost grew in a benchmark that regressed. Work of the runtime for a
// function (allocating, copying) counts as its own.
type Grown struct {
	Unit     string  `json:"unit"` // "cpu-ns/op", "B/op" or "allocs/op"
	Function string  `json:"function"`
	File     string  `json:"file"` // base name, in the new tree
	Line     int64   `json:"line"` // the function's most expensive line in the new tree
	Old      float64 `json:"old"`
	New      float64 `json:"new"`
	// Unsure means that the profiles do not show which function grew; this one has the highest
	// cost.
	Unsure bool `json:"unsure,omitempty"`
	// Changed is the changed line nearest to the cost: in the function or, if it did not change, in
	// the nearest caller that did.
	Changed *Changed `json:"changed,omitempty"`
}

const (
	blamed     = 3    // most benchmarks that are profiled
	blamedRows = 3    // most functions that are named per metric
	blamedTime = 10   // iterations of a profiled process, as a multiple of a sample's
	sure       = 3.0  // minimum growth, in standard errors
	matters    = 0.01 // minimum growth, as a share of the old total
)

// blamedRuns are the numbers of CPU profiles per side after which hone looks for functions that
// grew. A profile of one second has 100 samples: if a function with half of the time grows by a
// tenth, eight profiles are needed to show it.
var blamedRuns = [...]int{4, 8, 16}

// blame profiles both sides of the benchmarks that regressed and names the functions whose cost
// grew. If that fails, the result has a note instead of the names.
func (r *runner) blame(ctx context.Context) error {
	n := 0
	for _, x := range r.subjects {
		units := x.worse()
		if len(units) == 0 {
			continue
		}
		if n++; n > blamed {
			break
		}
		r.Progress(Progress{Text: "profiling " + x.Name})
		if err := r.blameOne(ctx, x, units); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.result.Notes = append(r.result.Notes, fmt.Sprintf("no profiles of %s: %v", x.Name, err))
		}
		r.Progress(Progress{Text: "recording " + x.Name + " on both sides"})
		if err := r.newFindings(ctx, x); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.result.Notes = append(r.result.Notes, fmt.Sprintf("no findings of %s: %v", x.Name, err))
		}
	}
	return nil
}

// expensive returns the benchmarks to record: those with the most CPU time per operation, or time
// if CPU time is unknown.
func (r *runner) expensive() []*subject {
	cost := func(x *subject) float64 {
		if v := values(x.New, cpuUnit); len(v) > 0 {
			return stats.Median(v)
		}
		return stats.Median(values(x.New, "ns/op"))
	}
	all := slices.Clone(r.subjects)
	slices.SortStableFunc(all, func(a, b *subject) int { return cmp.Compare(cost(b), cost(a)) })
	return all[:min(len(all), r.Record)]
}

// worse lists the profiled metrics in which a benchmark regressed. For time, it lists CPU time,
// because that is what a profile shows.
func (x *subject) worse() (units []string) {
	for _, row := range x.Rows {
		unit := row.Unit
		if unit == "ns/op" {
			unit = cpuUnit
		}
		if row.Old != nil && row.Verdict == compare.Worse && !slices.Contains(units, unit) && sampleType(unit) != "" {
			units = append(units, unit)
		}
	}
	return units
}

// sampleType returns the sample type that shows a metric in a profile, or "".
func sampleType(unit string) string {
	return map[string]string{cpuUnit: "cpu", "B/op": "alloc_space", "allocs/op": "alloc_objects"}[unit]
}

func (r *runner) blameOne(ctx context.Context, x *subject, units []string) error {
	changes := r.changes(x)
	for _, unit := range units {
		var grown []Grown
		var err error
		if unit == cpuUnit {
			grown, err = r.blameCPU(ctx, x, changes)
		} else {
			grown, err = r.blameMemory(ctx, x, unit, changes)
		}
		if err != nil {
			return err
		}
		x.Grown = append(x.Grown, grown...)
	}
	return nil
}

// blameCPU profiles processes of both sides, interleaved and over all layouts of the current set,
// until a function stands out.
func (r *runner) blameCPU(ctx context.Context, x *subject, changes *changes) ([]Grown, error) {
	var profiles [2][]*profile.Profile
	t := trial.New(2, r.Seed^hash("profiles "+x.Package+x.Name), trial.Limits{})
	for _, runs := range blamedRuns {
		for t.Runs() < runs {
			for _, side := range t.Block() {
				of := x.layouts[side]
				p, err := r.profile(ctx, x, of[len(profiles[side])%len(of)], "cpu", x.Iterations*blamedTime)
				if err != nil {
					return nil, err
				}
				profiles[side] = append(profiles[side], p)
			}
		}
		grown, err := grew(profiles[oldSide], profiles[newSide], cpuUnit, x.perOperation(cpuUnit, 0), changes)
		if err != nil || len(grown) > 0 && !grown[0].Unsure || runs == blamedRuns[len(blamedRuns)-1] {
			return grown, err
		}
	}
	return nil, nil
}

// blameMemory compares one allocation profile per side, sampled every 512 bytes.
func (r *runner) blameMemory(ctx context.Context, x *subject, unit string, changes *changes) ([]Grown, error) {
	var profiles [2][]*profile.Profile
	for side := range profiles {
		p, err := r.profile(ctx, x, x.layouts[side][0], "mem", x.Iterations, "-test.memprofilerate=512")
		if err != nil {
			return nil, err
		}
		profiles[side] = append(profiles[side], p)
	}
	return grew(profiles[oldSide], profiles[newSide], unit, x.perOperation(unit, float64(x.Iterations)), changes)
}

// profile runs a benchmark in one process and returns its profile.
func (r *runner) profile(ctx context.Context, x *subject, from layout, kind string, iterations int64, args ...string) (*profile.Profile, error) {
	file := filepath.Join(r.work, kind+".pprof")
	args = slices.Concat(x.arguments(iterations), []string{"-test." + kind + "profile=" + file}, args)
	if _, err := r.output(ctx, from.binary, args...); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return profile.Decode(bytes.NewReader(data), 0)
}

// A scale converts the total of a side's profiles to its cost per operation.
type scale func(side int, total float64) float64

// perOperation returns the scale of a metric. CPU time per operation comes from the samples, and
// the profiles only divide it among functions, because their totals vary by a tenth. Allocations
// are counted per operation that the profile covers.
func (x *subject) perOperation(unit string, ops float64) scale {
	for _, row := range x.Rows {
		if unit == cpuUnit && row.Unit == unit && row.Old != nil {
			measured := [2]float64{*row.Old, row.New}
			return func(side int, _ float64) float64 { return measured[side] }
		}
	}
	return func(_ int, total float64) float64 { return total / ops }
}

// share returns a function's share of the profiles of a side, and its variance: that of sampling
// or, if larger, that between processes. A function that has nearly all samples has nearly all of
// the cost, however few they are.
func share(costs, totals []pairing.Cost) (value, variance float64) {
	var cost, sampled, total, totalSampled float64
	for i, c := range costs {
		cost, sampled = cost+float64(c.Value), sampled+c.Variance
		total, totalSampled = total+float64(totals[i].Value), totalSampled+totals[i].Variance
	}
	if total <= 0 {
		return 0, 0
	}
	value = cost / total
	variance = sampled / (total * total) * (1 - value)
	if n := float64(len(costs)); n > 1 {
		var squares float64
		for i, c := range costs {
			d := float64(c.Value)/math.Max(1, float64(totals[i].Value)) - value
			squares += d * d
		}
		variance = math.Max(variance, squares/n/(n-1))
	}
	return value, variance
}

// grew returns the functions whose own cost grew between the profiles of the two sides.
func grew(old, new []*profile.Profile, unit string, per scale, changes *changes) ([]Grown, error) {
	pairer, err := pairing.New(pairing.Options{Granularity: profile.ByFunction, Measure: pairing.Own})
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(old, new) {
		index, err := p.SampleIndex(sampleType(unit))
		if err != nil {
			return nil, err
		}
		if err := pairer.Add(p, index); err != nil {
			return nil, err
		}
	}
	pairs := pairer.Table()
	n := len(old)
	to, tn := per(oldSide, sum(pairs.Totals[:n])), per(newSide, sum(pairs.Totals[n:]))
	var out []Grown
	largest := Grown{Unit: unit, Unsure: true}
	for _, row := range pairs.Rows {
		if strings.HasPrefix(row.Name, "runtime.") || strings.HasPrefix(row.Name, "testing.") {
			continue
		}
		o, ov := share(row.Costs[:n], pairs.Totals[:n])
		w, wv := share(row.Costs[n:], pairs.Totals[n:])
		g := Grown{Unit: unit, Function: row.Name, Old: o * to, New: w * tn}
		if g.New > largest.New {
			largest.Function, largest.Old, largest.New = g.Function, g.Old, g.New
		}
		if more := g.New - g.Old; more >= matters*to && more >= sure*math.Sqrt(to*to*ov+tn*tn*wv) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b Grown) int {
		return cmp.Or(cmp.Compare(b.New-b.Old, a.New-a.Old), strings.Compare(a.Function, b.Function))
	})
	if len(out) == 0 && largest.Function != "" {
		out = append(out, largest)
	}
	out = out[:min(len(out), blamedRows)]
	for i := range out {
		out[i].Changed = changes.nearest(new, sampleType(unit), out[i].Function)
	}
	return out, costliest(out, new, unit)
}

func sum(costs []pairing.Cost) (total float64) {
	for _, c := range costs {
		total += float64(c.Value)
	}
	return total
}

// costliest sets the line of each function to its most expensive one.
func costliest(grown []Grown, new []*profile.Profile, unit string) error {
	pairer, err := pairing.New(pairing.Options{Granularity: profile.ByLine, Measure: pairing.Own})
	if err != nil {
		return err
	}
	for _, p := range new {
		index, err := p.SampleIndex(sampleType(unit))
		if err != nil {
			return err
		}
		if err := pairer.Add(p, index); err != nil {
			return err
		}
	}
	rows := pairer.Table().Rows
	for i := range grown {
		g := &grown[i]
		most := -1.0
		for _, row := range rows {
			if cost := sum(row.Costs); row.Name == g.Function && cost > most {
				most = cost
				g.File, g.Line = path.Base(strings.ReplaceAll(row.File, `\`, "/")), row.Line
			}
		}
	}
	return nil
}
