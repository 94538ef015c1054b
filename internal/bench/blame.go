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
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/stats"
)

// Grown is a function whose own cost grew in a benchmark that is worse. What the runtime does for a function (allocation,
// copying) is its own.
type Grown struct {
	Unit     string  `json:"unit"` // of the costs: "cpu-ns/op", "B/op" or "allocs/op"
	Function string  `json:"function"`
	File     string  `json:"file"` // base name, in the new tree
	Line     int64   `json:"line"` // of the function's lines there the one that costs most
	Old      float64 `json:"old"`
	New      float64 `json:"new"`
	// Unsure says that the profiles do not show which function grew: this one has the largest cost.
	Unsure bool `json:"unsure,omitempty"`
}

const (
	blamed     = 3    // benchmarks are profiled on both sides at most
	blamedRows = 3    // functions are named for each metric
	blamedTime = 30   // times a sample's iterations are run under the CPU profile
	sure       = 3.0  // standard errors that the growth of a cost is above zero
	matters    = 0.01 // of the old total, that the growth is at least
)

// blame profiles the benchmarks that are worse on both sides and names the functions whose cost grew. What fails here costs the
// names, not the result.
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

// expensive lists the benchmarks to record, by their CPU time an operation (their time where that is not known).
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

// worse lists the profiled metrics of a benchmark that are worse: a time stands for CPU.
func (x *subject) worse() (units []string) {
	for _, row := range x.Rows {
		unit := row.Unit
		if unit == "ns/op" {
			unit = cpuUnit
		}
		if row.Old != nil && row.Verdict == compare.Worse && !slices.Contains(units, unit) && columns(unit) != "" {
			units = append(units, unit)
		}
	}
	return units
}

// columns is the sample type that stands for a metric; "" for none.
func columns(unit string) string {
	return map[string]string{cpuUnit: "cpu", "B/op": "alloc_space", "allocs/op": "alloc_objects"}[unit]
}

func (r *runner) blameOne(ctx context.Context, x *subject, units []string) error {
	var profiles [2]map[string]*profile.Profile
	iterations := map[string]int64{"cpu": x.Iterations * blamedTime, "mem": x.Iterations}
	for side := range profiles {
		profiles[side] = map[string]*profile.Profile{}
		for kind, n := range iterations {
			file := filepath.Join(r.work, fmt.Sprintf("%s.%d.pprof", kind, side))
			args := append(x.arguments(n), "-test."+kind+"profile="+file)
			if kind == "mem" {
				args = append(args, "-test.memprofilerate=512")
			}
			if _, err := r.output(ctx, x.pkgs[side].layouts[0].binary, args...); err != nil {
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if profiles[side][kind], err = profile.Decode(bytes.NewReader(data), 0); err != nil {
				return err
			}
		}
	}
	for _, unit := range units {
		kind := "mem"
		if unit == cpuUnit {
			kind = "cpu"
		}
		grown, err := grew(profiles[oldSide][kind], profiles[newSide][kind], unit, x.perOperation(unit, float64(iterations[kind])))
		if err != nil {
			return err
		}
		x.Grown = append(x.Grown, grown...)
	}
	return nil
}

// scale turns the costs of a side's profile into costs an operation, given their total.
type scale func(side int, total float64) float64

// perOperation is the scale of a metric. CPU time is known far better from the samples than from a profile, whose total
// scatters by a tenth: the profile only says how it is shared out. Allocations are counted per operation that the profile saw.
func (x *subject) perOperation(unit string, ops float64) scale {
	for _, row := range x.Rows {
		if unit == cpuUnit && row.Unit == unit && row.Old != nil {
			measured := [2]float64{*row.Old, row.New}
			return func(side int, total float64) float64 { return measured[side] / max(total, 1) }
		}
	}
	return func(int, float64) float64 { return 1 / ops }
}

// variance is that of a function's cost in a profile. Where the total is known from elsewhere it is that of a share: a function
// that has nearly all samples has nearly all of the cost, however few the samples are.
func variance(c, total pairing.Cost, shared bool) float64 {
	if !shared || total.Value <= 0 || c.Value <= 0 {
		return c.Variance
	}
	return c.Variance * (1 - float64(c.Value)/float64(total.Value))
}

// grew compares the own costs of functions between two profiles.
func grew(old, new *profile.Profile, unit string, per scale) ([]Grown, error) {
	pairer, err := pairing.New(pairing.Options{Granularity: profile.ByFunction, Measure: pairing.Own})
	if err != nil {
		return nil, err
	}
	for _, p := range []*profile.Profile{old, new} {
		index, err := p.SampleIndex(columns(unit))
		if err != nil {
			return nil, err
		}
		if err := pairer.Add(p, index); err != nil {
			return nil, err
		}
	}
	pairs := pairer.Table()
	totals := pairs.Totals
	to, tn := per(oldSide, float64(totals[0].Value)), per(newSide, float64(totals[1].Value))
	var out []Grown
	largest := Grown{Unit: unit, Unsure: true}
	for _, row := range pairs.Rows {
		o, n := row.Costs[0], row.Costs[1]
		more := float64(n.Value)*tn - float64(o.Value)*to
		spread := to*to*variance(o, totals[0], unit == cpuUnit) + tn*tn*variance(n, totals[1], unit == cpuUnit)
		if ours := !strings.HasPrefix(row.Name, "runtime.") && !strings.HasPrefix(row.Name, "testing."); ours && float64(n.Value)*tn > largest.New {
			largest.Function, largest.Old, largest.New = row.Name, float64(o.Value)*to, float64(n.Value)*tn
		}
		if more < matters*to*float64(totals[0].Value) || more < sure*math.Sqrt(spread) || strings.HasPrefix(row.Name, "runtime.") || strings.HasPrefix(row.Name, "testing.") {
			continue
		}
		out = append(out, Grown{Unit: unit, Function: row.Name, Old: float64(o.Value) * to, New: float64(n.Value) * tn})
	}
	slices.SortFunc(out, func(a, b Grown) int {
		return cmp.Or(cmp.Compare(b.New-b.Old, a.New-a.Old), strings.Compare(a.Function, b.Function))
	})
	if len(out) == 0 && largest.Function != "" {
		out = append(out, largest)
	}
	out = out[:min(len(out), blamedRows)]
	return out, costliest(out, new, unit)
}

// costliest fills in the line of each function that costs most.
func costliest(grown []Grown, new *profile.Profile, unit string) error {
	pairer, err := pairing.New(pairing.Options{Granularity: profile.ByLine, Measure: pairing.Own})
	if err != nil {
		return err
	}
	index, err := new.SampleIndex(columns(unit))
	if err != nil {
		return err
	}
	if err := pairer.Add(new, index); err != nil {
		return err
	}
	for i := range grown {
		g := &grown[i]
		most := int64(-1)
		for _, row := range pairer.Table().Rows {
			if row.Name == g.Function && row.Costs[0].Value > most {
				most = row.Costs[0].Value
				g.File, g.Line = path.Base(strings.ReplaceAll(row.File, `\`, "/")), row.Line
			}
		}
	}
	return nil
}
