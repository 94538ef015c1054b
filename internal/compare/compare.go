package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// Schema is the version of Comparison's JSON form.
const Schema = "hone/compare/v1"

// Verdict is the answer for one metric.
type Verdict string

// Better and Worse mean that the change is not due to chance, given the number of rows, and larger
// than the floor. Same means that the whole interval is within [Tolerance]. Unknown means none of
// these.
const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Same    Verdict = "same"
	Unknown Verdict = "unknown"
)

// Tolerance is the largest relative change of a figure that is called the same.
const Tolerance = 0.02

// Row is one metric of the comparison.
type Row struct {
	Name    string   `json:"name"` // "clean phase", or the benchmark
	Metric  string   `json:"metric"`
	Unit    string   `json:"unit"`
	Old     float64  `json:"old"`
	New     float64  `json:"new"`
	Ratio   *float64 `json:"ratio,omitempty"` // new / old; absent where old is 0
	Low     *float64 `json:"low,omitempty"`   // 95 % interval of the ratio; absent if the spread is unknown
	High    *float64 `json:"high,omitempty"`  //
	P       *float64 `json:"p,omitempty"`     // of "no difference"
	Q       *float64 `json:"q,omitempty"`     // p adjusted for the number of rows
	N       [2]int   `json:"n"`               // recordings per side
	Floor   float64  `json:"floor"`           // the smallest relative change that gets a verdict; 0 if figures are exact
	Exact   bool     `json:"exact,omitempty"` // the same in every process, so compared without a test
	Verdict Verdict  `json:"verdict"`
	Why     string   `json:"why,omitempty"` // why no verdict is possible, whatever the interval

	higherBetter bool
	kind         kind
	least        float64 // change that gets a verdict, in Unit
}

// Matters reports whether the two values differ by enough for a verdict, provided that the
// difference is not due to chance.
func (r *Row) Matters() bool { return r.Old != r.New && math.Abs(r.New-r.Old) >= r.least }

// Loss reports whether a row is worse and that is a loss. It is not a loss if only the garbage
// collector's share grew, which also happens when the rest of the program costs less, or the time
// on locks, which grows when more requests run at once: what these cost shows in CPU, latency and
// throughput.
func (r *Row) Loss() bool {
	return r.Verdict == Worse && r.Metric != GCShare && r.Metric != LockWait
}

// Comparison is a whole comparison.
type Comparison struct {
	Schema      string       `json:"schema"`
	Old         string       `json:"old"`
	New         string       `json:"new"`
	Rows        []Row        `json:"rows"`
	OnlyOld     []string     `json:"only_old,omitempty"` // benchmarks that only the old side has
	OnlyNew     []string     `json:"only_new,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	Notes       []string     `json:"notes,omitempty"`
}

// Source is a recording of one side.
type Source struct {
	Name     string
	Manifest recording.Manifest
}

// Options control a comparison.
type Options struct {
	// Force compares recordings that do not measure the same: another program, other arguments,
	// another load.
	Force bool
	// InTurns says that the recordings of the two sides were interleaved in blocks of random order
	// (package trial). With at least fewInTurns per side, they are compared by ranks: whatever else
	// the machine did affected both sides alike, so no assumption beyond their own scatter is
	// necessary.
	InTurns bool
}

// fewInTurns is the smallest number of recordings per side that ranks can judge: with four, no
// p-value is below 0.03.
const fewInTurns = 5

// Recordings compares the clean phases of one or several recordings per side: per request, run or
// operation. It returns a [*DifferentError] if the two sides do not measure the same.
func Recordings(old, new []Source, o Options) (*Comparison, error) {
	sides, err := readSides(old, new)
	if err != nil {
		return nil, err
	}
	if o.InTurns {
		for i := range sides {
			for k := range sides[i].runs {
				r := &sides[i].runs[k]
				r.figures = append(r.figures, trialFigures(r.Manifest, r.clean)...)
			}
		}
	}
	c := &Comparison{Schema: Schema, Old: sides[0].names(), New: sides[1].names()}
	if c.Differences, err = differences(sides, o.Force); err != nil {
		return nil, err
	}
	c.match(sides, o.InTurns)
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("%s and %s have no metric in common%s", c.Old, c.New, c.nothingCommon())
	}
	doubts := doubts(sides, c.Differences, o.Force)
	for i := range c.Rows {
		c.Rows[i].Why = doubts.why(c.Rows[i].kind)
	}
	c.decide()
	c.Notes = c.notes(sides, o.InTurns)
	return c, nil
}

// side is what the recordings of one side measured.
type side struct{ runs []run }

// run is one recording.
type run struct {
	Source
	clean   recording.Phase
	figures []figure
	shared  sharing
}

func (s side) names() string {
	var names []string
	for _, r := range s.runs {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

func readSides(old, new []Source) (sides [2]side, err error) {
	if len(old) == 0 || len(new) == 0 {
		return sides, fmt.Errorf("a comparison needs a recording on each side")
	}
	seen := map[string]string{}
	for i, sources := range [2][]Source{old, new} {
		for _, s := range sources {
			if first, ok := seen[s.Manifest.ID]; ok && s.Manifest.ID != "" {
				return sides, fmt.Errorf("%s and %s are the same recording: it cannot be compared with itself, or counted twice", first, s.Name)
			}
			seen[s.Manifest.ID] = s.Name
			clean, ok := phase(s.Manifest, recording.PhaseClean)
			if !ok {
				return sides, fmt.Errorf("%s has no clean phase to compare", s.Name)
			}
			if s.Manifest.Target.Bench != "" && len(clean.Benchmarks) == 0 {
				return sides, fmt.Errorf("%s does not have the costs of each benchmark: an older hone recorded it; record it again", s.Name)
			}
			r := run{Source: s, clean: clean, shared: sharingOf(s.Manifest, clean)}
			r.figures = figures(s.Manifest, clean)
			sides[i].runs = append(sides[i].runs, r)
		}
	}
	return sides, nil
}

func phase(m recording.Manifest, name string) (recording.Phase, bool) {
	for _, p := range m.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return recording.Phase{}, false
}

// match adds a row for each figure that all recordings have, benchmark by benchmark.
func (c *Comparison) match(sides [2]side, inTurns bool) {
	missing := [2]map[string]bool{{}, {}}
	for i, s := range sides {
		other := sides[1-i]
		for _, r := range s.runs {
			for _, f := range r.figures {
				if f.bench && !other.has(f.name) {
					missing[i][f.name] = true
				}
			}
		}
	}
	c.OnlyOld, c.OnlyNew = sortedNames(missing[0]), sortedNames(missing[1])
	interleaved := interleaved(sides)
	for _, f := range sides[0].runs[0].figures {
		pair, ok := pairOf(sides, f)
		if !ok {
			continue
		}
		row := pair.row(f, interleaved)
		if row.Old == 0 && row.New == 0 {
			continue // no garbage collection, or no lock with waiters
		}
		if inTurns && min(row.N[0], row.N[1]) >= fewInTurns {
			pair.byRanks(&row)
		}
		c.Rows = append(c.Rows, row)
	}
	names := map[string]int{} // in order of appearance
	for _, r := range c.Rows {
		if _, ok := names[r.Name]; !ok {
			names[r.Name] = len(names)
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b Row) int { return names[a.Name] - names[b.Name] })
}

func (s side) has(name string) bool {
	for _, r := range s.runs {
		for _, f := range r.figures {
			if f.name == name {
				return true
			}
		}
	}
	return false
}

func sortedNames(set map[string]bool) []string {
	var names []string
	for n := range set {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// nothingCommon adds which benchmarks each side has, if they are benchmarks.
func (c *Comparison) nothingCommon() string {
	if len(c.OnlyOld) == 0 || len(c.OnlyNew) == 0 {
		return ""
	}
	return fmt.Sprintf(": the old side ran the benchmarks %s, the new %s", some(c.OnlyOld), some(c.OnlyNew))
}

// some lists a few names.
func some(names []string) string {
	const few = 5
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// decide adjusts the p-values for the number of rows and gives every row its verdict.
func (c *Comparison) decide() {
	var rows []*Row
	var ps []float64
	for i := range c.Rows {
		if r := &c.Rows[i]; r.P != nil {
			rows, ps = append(rows, r), append(ps, *r.P)
		}
	}
	for i, q := range stats.FalseDiscovery(ps) {
		rows[i].Q = &q
	}
	for i := range c.Rows {
		c.Rows[i].Verdict = c.Rows[i].judge()
	}
}

// judge turns the interval of a ratio into a verdict.
func (r *Row) judge() Verdict {
	if r.Why != "" || r.Q == nil {
		return Unknown
	}
	change := math.Inf(1) // from nothing to something
	switch {
	case r.Ratio != nil:
		change = math.Abs(math.Log(*r.Ratio))
	case r.Old == r.New:
		change = 0
	}
	switch {
	case math.Abs(r.New-r.Old) < r.least:
		// too small to matter
	case *r.Q <= DiffLevel && change > 0 && change >= math.Log1p(r.Floor):
		if (r.New > r.Old) == r.higherBetter {
			return Better
		}
		return Worse
	case r.Exact && change == 0, r.Low != nil && *r.Low > 1-Tolerance && *r.High < 1+Tolerance:
		return Same
	}
	return Unknown
}
