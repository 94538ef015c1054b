package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/stats"
)

// Row is one metric of a benchmark.
type Row struct {
	Unit string `json:"unit"`
	// Old and New are medians over processes; Low and High bound the ratio new / old at 95 %, of one side the median of New.
	Old     *float64        `json:"old,omitempty"`
	New     float64         `json:"new"`
	Ratio   *float64        `json:"ratio,omitempty"`
	Low     *float64        `json:"low,omitempty"`
	High    *float64        `json:"high,omitempty"`
	P       *float64        `json:"p,omitempty"`
	Q       *float64        `json:"q,omitempty"` // p adjusted for the number of rows
	N       [2]int          `json:"n"`           // processes a side
	Exact   bool            `json:"exact,omitempty"`
	Verdict compare.Verdict `json:"verdict,omitempty"`
	More    int             `json:"more,omitempty"` // about how many more runs a side "unknown" would need
	Why     string          `json:"why,omitempty"`
	Allowed string          `json:"allowed,omitempty"` // why a gate lets this change for the worse pass

	better int // 1 where more is better, -1 where less is; 0: by the unit
}

const (
	// falseDiscoveries is the rate of changes among all rows of a run that may be chance.
	falseDiscoveries = 0.025
	// floor is the least relative change of a time that is called one: what another link order alone is worth.
	floor = 0.01
)

// HalfWidth returns half the width of the interval of the benchmark's CPU time (wall time where there is none), or of the ratio of
// both sides, as a share of it; +Inf while it is unknown.
func (x *Benchmark) HalfWidth() float64 {
	unit := cpuUnit
	if len(x.New) > 0 && x.New[0].Values[cpuUnit] == 0 {
		unit = "ns/op"
	}
	var i stats.Interval
	if len(x.Old) > 0 {
		i, _ = stats.MedianRatio(values(x.Old, unit), values(x.New, unit))
	} else {
		i = stats.Mean(values(x.New, unit))
	}
	if !i.Known() || i.Value <= 0 {
		return math.Inf(1)
	}
	return (i.High - i.Low) / 2 / i.Value
}

func values(samples []Sample, unit string) []float64 {
	var out []float64
	for _, s := range samples {
		if v, ok := s.Values[unit]; ok {
			out = append(out, v)
		}
	}
	return out
}

// units lists the metrics of a benchmark, times first.
func (b *Benchmark) units() []string {
	var units []string
	seen := map[string]bool{}
	for _, s := range slices.Concat(b.New, b.Old) {
		for u := range s.Values {
			if !seen[u] {
				seen[u] = true
				units = append(units, u)
			}
		}
	}
	return orderedUnits(units)
}

// orderedUnits sorts metrics, times first.
func orderedUnits(units []string) []string {
	order := []string{"ns/op", cpuUnit, instructionUnit, "B/op", "allocs/op"}
	place := func(u string) int {
		if i := slices.Index(order, u); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(units, func(a, c string) int {
		if d := place(a) - place(c); d != 0 {
			return d
		}
		return strings.Compare(a, c)
	})
	return units
}

// judge makes the rows of all benchmarks, and their verdicts: the rate of false ones is bounded over all of them.
func (r *runner) judge() {
	var all []*Row
	for _, x := range r.subjects {
		x.Rows = nil
		for _, unit := range x.units() {
			if row, ok := newRow(unit, values(x.Old, unit), values(x.New, unit)); ok {
				x.Rows = append(x.Rows, row)
			}
		}
		for j := range x.Rows {
			all = append(all, &x.Rows[j])
		}
	}
	decideAll(all)
}

// decideAll is judge for a result whose rows are made.
func (r *Result) decideAll() {
	var all []*Row
	for i := range r.Benchmarks {
		for j := range r.Benchmarks[i].Rows {
			all = append(all, &r.Benchmarks[i].Rows[j])
		}
	}
	decideAll(all)
}

func decideAll(all []*Row) {
	var ps []float64
	var rows []*Row
	for _, row := range all {
		if row.P != nil {
			ps, rows = append(ps, *row.P), append(rows, row)
		}
	}
	for i, q := range stats.FalseDiscovery(ps) {
		rows[i].Q = &q
		rows[i].decide()
	}
}

// newRow makes a row of the values of both sides; of one side, without old ones.
func newRow(unit string, old, new []float64) (Row, bool) {
	if len(new) == 0 {
		return Row{}, false
	}
	row := Row{Unit: unit, New: stats.Median(new), N: [2]int{len(old), len(new)}}
	if len(old) == 0 {
		m := stats.Mean(new)
		if m.Known() {
			row.Low, row.High = &m.Low, &m.High
		}
		row.Exact = counted(unit) && constant(new)
		return row, true
	}
	median := stats.Median(old)
	row.Old = &median
	if median > 0 {
		ratio := row.New / median
		row.Ratio = &ratio
	}
	if counted(unit) && constant(old) && constant(new) {
		row.Exact = true
		row.Verdict = compare.Same
		if old[0] != new[0] {
			row.Verdict = row.direction(new[0] > old[0])
		}
		return row, true
	}
	i, p := stats.MedianRatio(old, new)
	row.P = &p
	if i.Known() {
		row.Ratio, row.Low, row.High = &i.Value, &i.Low, &i.High
	}
	return row, true
}

// counted are the metrics that a program whose runs are alike gives to the digit.
func counted(unit string) bool { return unit == "allocs/op" || unit == "B/op" }

func constant(x []float64) bool {
	return len(x) > 1 && !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// direction is the verdict on a figure that grew, or fell: of rates more is better, if nothing else is known.
func (row *Row) direction(grew bool) compare.Verdict {
	more := strings.HasSuffix(row.Unit, "/s")
	if row.better != 0 {
		more = row.better > 0
	}
	if grew == more {
		return compare.Better
	}
	return compare.Worse
}

// floor is the least relative change of the metric that is called one.
func (row *Row) floor() float64 {
	if row.Unit == instructionUnit {
		return instructionFloor
	}
	return floor
}

// decide gives a row with a spread its verdict.
func (row *Row) decide() {
	row.Verdict = compare.Unknown
	if row.Low == nil || row.High == nil || row.Ratio == nil {
		return
	}
	ratio := *row.Ratio
	switch {
	case *row.Q <= falseDiscoveries && math.Abs(ratio-1) >= row.floor() && (*row.Low > 1 || *row.High < 1):
		row.Verdict = row.direction(ratio > 1)
	case *row.Low >= 1-compare.Tolerance && *row.High <= 1+compare.Tolerance:
		row.Verdict = compare.Same
	default:
		half := (*row.High - *row.Low) / 2
		n := float64(min(row.N[0], row.N[1]))
		if need := n * math.Pow(half/compare.Tolerance, 2); !math.IsInf(need, 0) && need > n {
			row.More = int(math.Ceil(need - n))
		}
	}
}

// Judge compares the samples of both sides of some benchmarks as Run does, with one false-discovery rate for all of them.
// again takes the second set of samples of a benchmark, by its index and the size of a side; it is called for those that
// seem to have changed.
func Judge(benchmarks []Benchmark, again func(i, runs int) (old, new []Sample)) {
	r := &runner{}
	for i := range benchmarks {
		r.subjects = append(r.subjects, &subject{Benchmark: &benchmarks[i]})
	}
	r.judge()
	for i, x := range r.subjects {
		if x.suspect() {
			x.second[oldSide], x.second[newSide] = again(i, len(x.New))
			x.confirm()
		}
	}
}

// suspect reports whether a change of a benchmark has to be seen again.
func (x *subject) suspect() bool {
	return slices.ContainsFunc(x.Rows, func(r Row) bool {
		return !r.Exact && (r.Verdict == compare.Better || r.Verdict == compare.Worse)
	})
}

// confirm takes the second set of samples: a change that it does not show by itself is unknown. The figures are of both.
func (x *subject) confirm() {
	for i := range x.Rows {
		row := &x.Rows[i]
		if row.Exact || row.Verdict != compare.Better && row.Verdict != compare.Worse {
			continue
		}
		again, p := stats.MedianRatio(values(x.second[oldSide], row.Unit), values(x.second[newSide], row.Unit))
		if !again.Known() || p > 0.05 || (again.Value > 1) != (*row.Ratio > 1) || math.Abs(again.Value-1) < row.floor() {
			row.Verdict = compare.Unknown
			row.Why = "a second set of runs did not show it again"
			if again.Known() {
				row.Why += fmt.Sprintf(": %+.1f %%", 100*(again.Value-1))
			}
			continue
		}
		old := slices.Concat(x.Old, x.second[oldSide])
		new := slices.Concat(x.New, x.second[newSide])
		both, p := stats.MedianRatio(values(old, row.Unit), values(new, row.Unit))
		median := stats.Median(values(old, row.Unit))
		row.Old, row.New, row.P = &median, stats.Median(values(new, row.Unit)), &p
		row.Ratio, row.Low, row.High = &both.Value, &both.Low, &both.High
		row.N = [2]int{len(values(old, row.Unit)), len(values(new, row.Unit))}
	}
	x.Old, x.New = slices.Concat(x.Old, x.second[oldSide]), slices.Concat(x.New, x.second[newSide])
}
