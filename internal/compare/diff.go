package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/profile/sampling"
	"github.com/hone-go/hone/stats"
)

// DiffSchema is the version of Diff's JSON form.
const DiffSchema = "hone/diff/v1"

// DiffLevel limits the share of falsely moved rows among all rows that are reported as moved. If
// nothing differs, it is the chance of reporting anything: 1 in 40 comparisons.
const DiffLevel = 0.025

// DefaultThreshold is the share of the old total below which a difference does not matter.
const DefaultThreshold = 0.01

// DiffSource is one profile of a side.
type DiffSource struct {
	Name      string
	Profile   *profile.Profile // filtered
	Index     int              // column to compare
	Total     int64            // of that column before filters: the whole that shares refer to
	Recording *recording.Manifest
	Part      string  // of the recording
	LeftOut   float64 // hone's own share of the whole, which is not in Profile, 0 to 1
}

// DiffOptions control the comparison of profiles.
type DiffOptions struct {
	pairing.Options
	Threshold float64 // share of the old total, see DefaultThreshold
	Limit     int     // number of rows to keep that did not move; 0 for all
}

// DiffRow is a function, file, line or path on both sides. Costs are in the Diff's unit.
type DiffRow struct {
	Function   string         `json:"function,omitempty"`
	File       string         `json:"file,omitempty"`
	Line       int64          `json:"line,omitempty"`
	Path       []string       `json:"path,omitempty"` // outermost first, itself last
	In         string         `json:"in"`             // "both", "old" (removed), "new"
	Old        float64        `json:"old"`
	New        float64        `json:"new"`
	Ratio      *float64       `json:"ratio,omitempty"`  // new / old; absent if old is 0
	Difference stats.Interval `json:"difference"`       // new − old with its 95 % bounds
	P          float64        `json:"p"`                // of "no difference"
	Q          float64        `json:"q"`                // p adjusted for the number of rows
	Events     *[2]float64    `json:"events,omitempty"` // number of samples of each side
	Verdict    Verdict        `json:"verdict"`          // Better and Worse: moved; Unknown: inconclusive
	decidable  bool
	row        int // index in the pairing
}

// DiffCounts holds the number of rows with each verdict.
type DiffCounts struct {
	Moved   int `json:"moved"`
	Same    int `json:"same"`
	Unknown int `json:"unknown"`
}

// Diff is what moved between two sides. Less cost is better.
type Diff struct {
	Schema     string     `json:"schema"`
	Old        []string   `json:"old"`
	New        []string   `json:"new"`
	SampleType string     `json:"sample_type"`
	Unit       string     `json:"unit"` // "s", "B", "objects", …; "share" of the total
	Per        string     `json:"per"`  // "request", "operation", "run", "second", "total"; "" for a state, which has no denominator
	Exposure   [2]float64 `json:"exposure"`
	Events     [2]float64 `json:"events"`          // number of samples of each side; 0 if unknown
	Threshold  float64    `json:"threshold"`       // share of the old total
	Limit      float64    `json:"limit"`           // the same in Unit
	Total      *DiffRow   `json:"total,omitempty"` // absent when shares are compared
	Counts     DiffCounts `json:"counts"`
	Rows       []DiffRow  `json:"rows"` // moved rows by size, then unknown by their possible size, then same by cost; see Limit
	Notes      []string   `json:"notes,omitempty"`
}

// Differ compares profiles one after the other; it keeps only their sums.
type Differ struct {
	o       DiffOptions
	pairer  *pairing.Builder
	sides   [2][]diffSource
	order   []int // the side of each profile, in the order of addition
	cache   map[[4]float64]stats.Difference
	scatter sampling.Kind
}

// diffSource is what a Differ keeps of a source.
type diffSource struct {
	DiffSource
	exposure exposure
}

// NewDiffer starts a comparison.
func NewDiffer(o DiffOptions) (*Differ, error) {
	if !(o.Threshold >= 0 && o.Threshold <= 1) {
		return nil, fmt.Errorf("the threshold %g is not a share between 0 and 1", o.Threshold)
	}
	pairer, err := pairing.New(o.Options)
	if err != nil {
		return nil, err
	}
	return &Differ{o: o, pairer: pairer, cache: map[[4]float64]stats.Difference{}}, nil
}

// AddOld adds a profile to the old side.
func (d *Differ) AddOld(s DiffSource) error { return d.add(0, s) }

// AddNew adds a profile to the new side.
func (d *Differ) AddNew(s DiffSource) error { return d.add(1, s) }

func (d *Differ) add(side int, s DiffSource) error {
	if err := d.pairer.Add(s.Profile, s.Index); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	kept := diffSource{s, exposureOf(s)}
	kept.Profile = nil // only its sums are needed
	d.sides[side] = append(d.sides[side], kept)
	d.order = append(d.order, side)
	return nil
}

// Diff judges every row.
func (d *Differ) Diff() (*Diff, error) {
	if len(d.sides[0]) == 0 || len(d.sides[1]) == 0 {
		return nil, fmt.Errorf("a comparison needs an old and a new profile")
	}
	table := d.pairer.Table()
	d.scatter = table.Scatter
	basis := d.chooseBasis(table.SampleType)
	out := &Diff{
		Schema: DiffSchema, Old: d.names(0), New: d.names(1), SampleType: table.SampleType.Type,
		Unit: basis.unit, Per: basis.per, Threshold: d.o.Threshold, Rows: make([]DiffRow, 0, len(table.Rows)),
	}
	exposures := make([]float64, len(d.order))
	var next [2]int
	for i, side := range d.order {
		exposures[i] = basis.of(d.sides[side][next[side]].exposure)
		out.Exposure[side] += exposures[i]
		next[side]++
		if !(exposures[i] > 0) {
			return nil, fmt.Errorf("%s has no %s", d.sides[side][next[side]-1].Name, table.SampleType.Type)
		}
	}
	j := rowJudge{d: d, exposures: exposures, scale: basis.scale}
	j.learn(table.Rows)
	for i := range table.Rows {
		out.Rows = append(out.Rows, j.row(&table.Rows[i]))
		out.Rows[i].row = i
	}
	total := j.row(&pairing.Row{Costs: table.Totals})
	out.Limit = d.o.Threshold * total.Old
	if total.Events != nil {
		out.Events = *total.Events
	}
	if basis.per == perTotal {
		out.Limit = d.o.Threshold
	} else {
		out.Total = &total
	}
	out.decide()
	out.Notes = d.notes(out, basis, math.Sqrt(j.excess))
	if keep := out.Counts.Moved + d.o.Limit; d.o.Limit > 0 && keep < len(out.Rows) {
		out.Rows = slices.Clone(out.Rows[:keep])
	}
	for i := range out.Rows {
		for _, f := range table.Path(out.Rows[i].row) {
			out.Rows[i].Path = append(out.Rows[i].Path, f.Name)
		}
	}
	return out, nil
}

func (d *Differ) names(side int) []string {
	var names []string
	for _, s := range d.sides[side] {
		names = append(names, s.Name)
	}
	return names
}

// rowJudge compares the two sides of a row.
type rowJudge struct {
	d         *Differ
	exposures []float64
	scale     float64 // from the sample type's unit to the Diff's
	excess    float64 // squared relative difference between runs, beyond sampling
}

func (j *rowJudge) row(r *pairing.Row) DiffRow {
	out := DiffRow{Function: r.Name, File: r.File, Line: r.Line, In: "both"}
	var tallies [2]stats.Tally
	for i, side := range j.d.order {
		t := &tallies[side]
		t.Value += float64(r.Costs[i].Value)
		t.Variance += r.Costs[i].Variance
		t.Exposure += j.exposures[i]
	}
	out.Old = tallies[0].Value / tallies[0].Exposure * j.scale
	out.New = tallies[1].Value / tallies[1].Exposure * j.scale
	switch {
	case out.Old == 0:
		out.In = "new"
	case out.New == 0:
		out.In = "old"
	}
	if out.Old > 0 {
		ratio := out.New / out.Old
		out.Ratio = &ratio
	}
	j.compare(&out, r, tallies)
	return out
}

// compare sets the difference and its p-value. They come from the sampling of the counts and, if
// both sides have several profiles, also from the scatter between profiles. The wider interval and
// the larger p-value are used, because a few profiles may agree by chance.
func (j *rowJudge) compare(out *DiffRow, r *pairing.Row, tallies [2]stats.Tally) {
	value := out.New - out.Old
	out.Difference, out.P = stats.Interval{Value: value, Low: math.Inf(-1), High: math.Inf(1)}, 1
	counted := j.d.scatter != sampling.Unknown
	if counted {
		c := j.counts(tallies)
		out.Difference.Low, out.Difference.High, out.P = c.Low*j.scale, c.High*j.scale, c.P
		out.decidable = c.LeastP <= DiffLevel
		if tallies[0].Variance+tallies[1].Variance > 0 {
			out.Events = &[2]float64{events(tallies[0]), events(tallies[1])}
		}
	}
	if !j.d.sets() {
		return
	}
	spread, p := j.spread(r).difference(j.excess)
	if !counted {
		out.Difference, out.P, out.decidable = spread, p, true
		return
	}
	out.Difference.Low = math.Min(out.Difference.Low, spread.Low)
	out.Difference.High = math.Max(out.Difference.High, spread.High)
	out.P = math.Max(out.P, p)
}

// counts compares tallies. It is fast, because a diff can have hundreds of thousands of paths.
func (j *rowJudge) counts(t [2]stats.Tally) stats.Difference {
	key := [4]float64{t[0].Value, t[0].Variance, t[1].Value, t[1].Variance}
	c, ok := j.d.cache[key]
	if !ok {
		c = stats.RateDifference(t[0], t[1])
		j.d.cache[key] = c
	}
	return c
}

// events returns the number of equal events that would have the same relative scatter.
func events(t stats.Tally) float64 {
	if t.Variance <= 0 {
		return 0
	}
	return t.Value / t.Variance * t.Value
}

// decide adjusts the p-values, gives every row its verdict and sorts.
func (d *Diff) decide() {
	var family []*DiffRow
	if d.Total != nil {
		family = append(family, d.Total)
	}
	for i := range d.Rows {
		family = append(family, &d.Rows[i])
	}
	// Rows that no outcome could decide are not part of the family; see stats.RateDifference.
	tested := slices.DeleteFunc(slices.Clone(family), func(r *DiffRow) bool { return !r.decidable })
	var ps []float64
	for _, r := range tested {
		ps = append(ps, r.P)
	}
	for _, r := range family {
		r.Q = 1
	}
	for i, q := range stats.FalseDiscovery(ps) {
		tested[i].Q = q
	}
	for _, r := range family {
		r.Verdict = verdictOf(r, d.Limit)
	}
	for i := range d.Rows {
		switch d.Rows[i].Verdict {
		case Same:
			d.Counts.Same++
		case Unknown:
			d.Counts.Unknown++
		default:
			d.Counts.Moved++
		}
	}
	slices.SortFunc(d.Rows, byVerdict)
}

// verdictOf returns Same if the whole interval is too small to matter, Better or Worse if the
// difference is not due to chance, and otherwise Unknown.
func verdictOf(r *DiffRow, limit float64) Verdict {
	switch i := r.Difference; {
	case i.Low > -limit && i.High < limit, i.Low == 0 && i.High == 0:
		return Same
	case r.Q <= DiffLevel && i.Low > 0:
		return Worse
	case r.Q <= DiffLevel && i.High < 0:
		return Better
	}
	return Unknown
}

func byVerdict(a, b DiffRow) int {
	rank := func(r *DiffRow) int {
		switch r.Verdict {
		case Same:
			return 2
		case Unknown:
			return 1
		}
		return 0
	}
	size := func(r *DiffRow) float64 {
		switch r.Verdict {
		case Same:
			return math.Max(r.Old, r.New)
		case Unknown:
			return math.Max(-r.Difference.Low, r.Difference.High)
		}
		return math.Abs(r.Difference.Value)
	}
	if c := cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(size(&b), size(&a))); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(math.Max(b.Old, b.New), math.Max(a.Old, a.New)),
		cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.row, b.row))
}

// Gate is the result of a gate.
type Gate struct {
	Worse   []DiffRow // regressed by more than the threshold
	Unknown []DiffRow // may have regressed by more than the threshold
}

// Gate collects the rows that regressed, or may have; the total is a row without a name.
func (d *Diff) Gate() Gate {
	var g Gate
	rows := d.Rows
	if d.Total != nil {
		rows = append([]DiffRow{*d.Total}, rows...)
	}
	for _, r := range rows {
		switch {
		case r.Verdict == Worse && r.Difference.Value > d.Limit:
			g.Worse = append(g.Worse, r)
		case r.Verdict != Same && r.Verdict != Better && r.Difference.High > d.Limit:
			g.Unknown = append(g.Unknown, r)
		}
	}
	return g
}
