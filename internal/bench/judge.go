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
	// Old and New are medians over processes. Low and High are the 95 % interval of the ratio new /
	// old or, if there is one side, of the median of New.
	Old     *float64        `json:"old,omitempty"`
	New     float64         `json:"new"`
	Ratio   *float64        `json:"ratio,omitempty"`
	Low     *float64        `json:"low,omitempty"`
	High    *float64        `json:"high,omitempty"`
	P       *float64        `json:"p,omitempty"`
	Q       *float64        `json:"q,omitempty"` // p adjusted for the number of rows
	N       [2]int          `json:"n"`           // processes per side
	Exact   bool            `json:"exact,omitempty"`
	Verdict compare.Verdict `json:"verdict,omitempty"`
	More    int             `json:"more,omitempty"` // about how many more runs per side would decide an unknown verdict
	Why     string          `json:"why,omitempty"`
	Allowed string          `json:"allowed,omitempty"` // why a gate lets this regression pass

	better  int         // 1 if more is better, -1 if less is; 0: decided by the unit
	samples [2][]Sample // that the row summarizes; none in a comparison of files
}

const (
	// falseDiscoveries limits the expected share of chance results among the changes that a run
	// reports.
	falseDiscoveries = 0.025
	// floor is the smallest relative change of a time that is reported: another link order alone
	// can cause as much.
	floor = 0.01
)

// orderMoves explains why a row has no verdict.
const orderMoves = "the order of functions in the binary may account for it; more -layouts narrow the interval"

// HalfWidth returns half the width of the interval of the benchmark's CPU time (or of its time, if
// CPU time is unknown) or of the ratio of both sides, relative to the value; +Inf if it is unknown.
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

// judge computes the rows of all benchmarks and their verdicts. It limits the false discovery rate
// over all of them.
func (r *runner) judge() {
	var all []*Row
	for _, x := range r.subjects {
		x.Rows = nil
		for _, unit := range x.units() {
			if row, ok := newRow(unit, values(x.Old, unit), values(x.New, unit)); ok {
				row.samples = [2][]Sample{x.Old, x.New}
				x.Rows = append(x.Rows, row)
			}
		}
		for j := range x.Rows {
			all = append(all, &x.Rows[j])
		}
	}
	decideAll(all)
}

// decideAll decides the verdicts of a result that has its rows.
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
	for _, row := range adjust(all) {
		row.decide()
	}
}

// adjust adjusts the p-values of rows for their number, and returns the rows that have one.
func adjust(all []*Row) (rows []*Row) {
	var ps []float64
	for _, row := range all {
		if row.P != nil {
			ps, rows = append(ps, *row.P), append(rows, row)
		}
	}
	for i, q := range stats.FalseDiscovery(ps) {
		rows[i].Q = &q
	}
	return rows
}

// bound limits the false discovery rate over all rows again, after confirm replaced the p-values of
// changes by those of both sets and their layouts.
func (r *runner) bound() {
	var all []*Row
	for _, x := range r.subjects {
		for i := range x.Rows {
			all = append(all, &x.Rows[i])
		}
	}
	for _, row := range adjust(all) {
		if !row.Exact && (row.Verdict == compare.Better || row.Verdict == compare.Worse) && *row.Q > falseDiscoveries {
			row.Verdict = compare.Unknown
			row.Why = orderMoves
		}
	}
}

// newRow returns the row that compares the values of both sides, or that describes one side if old
// is empty.
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

// counted reports whether a metric is a count, which is exactly the same in runs that do the same
// work.
func counted(unit string) bool { return unit == "allocs/op" || unit == "B/op" }

func constant(x []float64) bool {
	return len(x) > 1 && !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// direction returns the verdict on a value that grew, or fell. If nothing else is known, more is
// better for rates only.
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

// floor returns the smallest relative change of the metric that is reported.
func (row *Row) floor() float64 {
	if row.Unit == instructionUnit {
		return instructionFloor
	}
	return floor
}

// decide gives a row whose values vary its verdict. A change is only suspected at this point: it is
// judged by the runs alone. The second set, which has more layouts, shows whether layouts explain
// it.
func (row *Row) decide() {
	row.Verdict = compare.Unknown
	if row.Low == nil || row.High == nil || row.Ratio == nil {
		return
	}
	if *row.Q <= falseDiscoveries && math.Abs(*row.Ratio-1) >= row.floor() && (*row.Low > 1 || *row.High < 1) {
		row.Verdict = row.direction(*row.Ratio > 1)
		return
	}
	row.settle(row.widen())
}

// widen adjusts the interval for the scatter between link layouts and returns the share of the
// variance that is due to them.
func (row *Row) widen() (placement float64) {
	if len(row.samples[oldSide]) == 0 {
		return 0
	}
	ratio, p, placement := ratioOf(row.samples[oldSide], row.samples[newSide], row.Unit)
	if ratio.Known() {
		row.P, row.Ratio, row.Low, row.High = &p, &ratio.Value, &ratio.Low, &ratio.High
	}
	return placement
}

// settle decides whether a row that did not change is the same or unknown.
func (row *Row) settle(placement float64) {
	if *row.Low >= 1-compare.Tolerance && *row.High <= 1+compare.Tolerance {
		row.Verdict = compare.Same
		return
	}
	row.Verdict = compare.Unknown
	if placement > 0.5 {
		row.Why = orderMoves
		return
	}
	half := (*row.High - *row.Low) / 2
	n := float64(min(row.N[0], row.N[1]))
	if need := n * math.Pow(half/compare.Tolerance, 2); !math.IsInf(need, 0) && need > n {
		row.More = int(math.Ceil(need - n))
	}
}

// widenAll adjusts the changes of a first set that no second set follows.
func (r *runner) widenAll() {
	for _, x := range r.subjects {
		for i := range x.Rows {
			row := &x.Rows[i]
			if row.Exact || row.Verdict != compare.Better && row.Verdict != compare.Worse {
				continue
			}
			if placement := row.widen(); *row.Low <= 1 && *row.High >= 1 {
				row.settle(placement)
			}
		}
	}
}

// Judge compares the samples of both sides of benchmarks as Run does, with one false discovery rate
// for all of them. For each benchmark i that seems to have changed, it calls again, which returns a
// second set of samples with the given number of runs per side.
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
	r.bound()
}

// suspect reports whether a benchmark seems to have changed and must be measured again.
func (x *subject) suspect() bool {
	return slices.ContainsFunc(x.Rows, func(r Row) bool {
		return !r.Exact && (r.Verdict == compare.Better || r.Verdict == compare.Worse)
	})
}

// confirm evaluates the second set of samples, which has other link layouts. A change is confirmed
// if the second set shows it independently and the interval of both sets, adjusted for layouts,
// does not contain 1. The row then has the figures of both sets.
func (x *subject) confirm() {
	old, new := slices.Concat(x.Old, x.second[oldSide]), slices.Concat(x.New, x.second[newSide])
	for i := range x.Rows {
		row := &x.Rows[i]
		if row.Exact || row.Verdict != compare.Better && row.Verdict != compare.Worse {
			continue
		}
		again, p, _ := ratioOf(x.second[oldSide], x.second[newSide], row.Unit)
		if !again.Known() || p > 0.05 || (again.Value > 1) != (*row.Ratio > 1) || math.Abs(again.Value-1) < row.floor() {
			row.Verdict = compare.Unknown
			row.Why = "a second set of runs, with other link layouts, did not confirm it"
			if again.Known() {
				text := fmt.Sprintf(": %+.1f %% (%+.1f to %+.1f)", 100*(again.Value-1), 100*(again.Low-1), 100*(again.High-1))
				row.Why += strings.ReplaceAll(text, "-", "−")
			}
			continue
		}
		row.samples = [2][]Sample{old, new}
		placement := row.widen()
		median := stats.Median(values(old, row.Unit))
		row.Old, row.New = &median, stats.Median(values(new, row.Unit))
		row.N = [2]int{len(values(old, row.Unit)), len(values(new, row.Unit))}
		if *row.Low <= 1 && *row.High >= 1 {
			row.settle(placement)
		}
	}
	x.Old, x.New = old, new
}
