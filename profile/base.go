package profile

import (
	"fmt"
	"math"
)

// BaseOptions say how a profile is compared with a base.
type BaseOptions struct {
	// Mark keeps the base's samples apart from the profile's and labels them
	// with BaseLabel, so that a View's percentages are of the base: pprof's
	// -diff_base. Without it they are of the difference: pprof's -base.
	Mark bool
	// Normalize scales each value of the profile so that its sum is the base's.
	Normalize bool
}

// Against subtracts a base: what a View of the result shows is the difference.
// The header is p's.
func (p *Profile) Against(base *Profile, o BaseOptions) (*Profile, error) {
	if err := compatible(p, base); err != nil {
		return nil, fmt.Errorf("compare with a base: %w", err)
	}
	if o.Normalize {
		p = p.normalized(base)
	}
	if o.Mark {
		return p.lessMarked(base), nil
	}
	return Subtract(p, base)
}

// lessMarked is p with the samples of base, negative and labelled, behind its
// own. No sample of base can be one of p's then, so that none has to be looked
// for: p's columns stay as they are, and base's are renumbered.
func (p *Profile) lessMarked(base *Profile) *Profile {
	q := *p
	m := &Merger{out: &q, n: 1, tables: seededTables(&q), labels: newLabelInterner()}
	src := newSource(base)
	sets := make([]int32, p.NumLabelSets())
	for set := range sets {
		sets[set] = m.labels.addLabels(p.labels.set(set))
	}
	q.labelSet = make([]int32, p.NumSamples(), p.NumSamples()+base.NumSamples())
	for row := range q.labelSet {
		q.labelSet[row] = sets[p.LabelSet(row)]
	}
	q.values = make([][]int64, len(p.values))
	for i, column := range p.values {
		q.values[i] = append(make([]int64, 0, len(column)+base.NumSamples()), column...)
	}
	q.stacks = p.stacks.extensible(base.NumSamples())
	marked := make([]int32, base.NumLabelSets())
	for set := range marked {
		marked[set] = m.labels.addLabels(append(base.labels.set(set), Label{Key: BaseLabel, Str: "true"}))
	}
	for row := range base.NumSamples() {
		if base.isZero(row) {
			continue
		}
		m.addStack(src, base.stacks.row(row))
		q.labelSet = append(q.labelSet, marked[base.LabelSet(row)])
		for i, column := range base.values {
			q.values[i] = append(q.values[i], -column[row])
		}
	}
	q.labels = m.labels.table
	return &q
}

// addStack appends a stack of src, as the sum numbers its locations.
func (m *Merger) addStack(src *source, stack []int32) {
	room := m.out.stacks.reserve(len(stack))
	for i, l := range stack {
		if room[i] = src.locs[l]; room[i] < 0 {
			room[i] = m.location(src, l)
		}
	}
	m.out.stacks.commit(len(stack))
}

// normalized scales each column to the sum that it has in base. A column whose
// sum is zero becomes zero.
func (p *Profile) normalized(base *Profile) *Profile {
	q := *p
	q.values = make([][]int64, len(p.values))
	for i, column := range p.values {
		ratio := 0.0
		if from := sum(column); from != 0 {
			ratio = float64(sum(base.values[i])) / float64(from)
		}
		q.values[i] = make([]int64, len(column))
		for row, v := range column {
			q.values[i][row] = int64(math.Round(float64(v) * ratio))
		}
	}
	return &q
}

func sum(column []int64) int64 {
	var s int64
	for _, v := range column {
		s += v
	}
	return s
}
