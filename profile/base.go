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
		base = base.withBaseLabel()
	}
	return Subtract(p, base)
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

// withBaseLabel labels all samples as those of a base.
func (p *Profile) withBaseLabel() *Profile {
	in := newLabelInterner()
	sets := make([]int32, p.NumLabelSets())
	for set := range sets {
		labels := append(p.labels.set(set), Label{Key: BaseLabel, Str: "true"})
		sets[set] = in.addLabels(labels)
	}
	q := *p
	q.labels = in.table
	q.labelSet = make([]int32, p.NumSamples())
	for row := range q.labelSet {
		q.labelSet[row] = sets[p.LabelSet(row)]
	}
	return &q
}
