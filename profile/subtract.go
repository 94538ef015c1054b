package profile

import (
	"fmt"
	"math"
	"strings"
)

// BaseLabel is the label by which pprof marks the samples of a -diff_base.
// Reports do not show it.
const BaseLabel = "pprof::base"

// Subtraction defines the difference of two profiles. The zero value is p − base, sample by sample.
type Subtraction struct {
	// Mark keeps the base's samples separate from the profile's and labels them with BaseLabel, so
	// that a report's percentages are of the base: pprof's -diff_base. Without it they are of the
	// difference: pprof's -base.
	Mark bool
	// Normalize scales each value of the profile so that its sum equals the base's.
	Normalize bool
	// Counters says that both profiles are of one program and count since its start, base first.
	// The difference is what the program did in between, and its header has that duration if both
	// profiles have a time. Memory in use (inuse_objects, inuse_space) is a state, not a count:
	// those values remain as in p, because a difference of states says neither how much memory is
	// in use nor what was allocated (go.dev/issue/57765, go.dev/issue/67942).
	Counters bool
}

// Subtract returns p − base by stack and labels. Negative values are kept, and rows of zeros are
// dropped unless samples are marked. Sample types and period type must be equal; see [Share]. The
// header is p's.
func Subtract(p, base *Profile, how Subtraction) (*Profile, error) {
	if err := compatible(p, base); err != nil {
		return nil, fmt.Errorf("subtract: %w", err)
	}
	before := base
	if how.Counters {
		base = base.MapValues(func(sampleType int, value int64) int64 {
			if strings.HasPrefix(base.SampleTypes[sampleType].Type, "inuse_") {
				return 0
			}
			return value
		})
	}
	if how.Normalize {
		p = p.normalized(base)
	}
	if how.Mark {
		return p.lessMarked(base), nil
	}
	diff, err := p.less(base)
	if err != nil {
		return nil, fmt.Errorf("subtract: %w", err)
	}
	if how.Counters && before.TimeNanos > 0 && p.TimeNanos > before.TimeNanos {
		diff.TimeNanos = before.TimeNanos
		diff.DurationNanos = p.TimeNanos - before.TimeNanos
	}
	return diff, nil
}

// less returns p minus base, row by row.
func (p *Profile) less(base *Profile) (*Profile, error) {
	m := NewMerger()
	if err := m.Add(p); err != nil {
		return nil, err
	}
	m.add(base, -1)
	return m.Profile()
}

// lessMarked returns p followed by the samples of base, negative and labelled. No sample of base
// can equal one of p's then, so no lookup is necessary: p's columns are shared, and base's are
// renumbered.
func (p *Profile) lessMarked(base *Profile) *Profile {
	q := *p
	m := &Merger{out: &q, n: 1, tables: seededTables(&q), labels: newLabelInterner()}
	src := newSource(base)
	sets := make([]int32, p.NumLabelSets())
	for set := range sets {
		sets[set] = m.labels.addLabels(p.LabelsOf(set))
	}
	q.labelSet = make([]int32, p.NumSamples(), p.NumSamples()+base.NumSamples())
	for row := range q.labelSet {
		q.labelSet[row] = sets[p.LabelSet(row)]
	}
	q.values = make([][]int64, len(p.values))
	for i, column := range p.values {
		q.values[i] = append(make([]int64, 0, len(column)+base.NumSamples()), column...)
	}
	q.stacks = p.stacks.Extensible(base.NumSamples())
	marked := make([]int32, base.NumLabelSets())
	for set := range marked {
		marked[set] = m.labels.addLabels(append(base.LabelsOf(set), Label{Key: BaseLabel, Str: "true"}))
	}
	for row := range base.NumSamples() {
		if base.isZero(row) {
			continue
		}
		m.addStack(src, base.stacks.Row(row))
		q.labelSet = append(q.labelSet, marked[base.LabelSet(row)])
		for i, column := range base.values {
			q.values[i] = append(q.values[i], -column[row])
		}
	}
	q.labels = m.labels.table
	return &q
}

// addStack appends a stack of src with its locations renumbered for the sum.
func (m *Merger) addStack(src *source, stack []int32) {
	room := m.out.stacks.Reserve(len(stack))
	for i, l := range stack {
		if room[i] = src.locs[l]; room[i] < 0 {
			room[i] = m.location(src, l)
		}
	}
	m.out.stacks.Commit(len(stack))
}

// normalized scales each column to its sum in base. A column whose sum is zero becomes zero.
func (p *Profile) normalized(base *Profile) *Profile {
	ratios := make([]float64, len(p.values))
	for i, column := range p.values {
		if from := sum(column); from != 0 {
			ratios[i] = float64(sum(base.values[i])) / float64(from)
		}
	}
	return p.MapValues(func(sampleType int, value int64) int64 {
		return int64(math.Round(float64(value) * ratios[sampleType]))
	})
}

func sum(column []int64) int64 {
	var s int64
	for _, v := range column {
		s += v
	}
	return s
}
