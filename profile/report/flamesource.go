package report

import (
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
)

// flameSource is what the flame graphs of one value share.
type flameSource struct {
	cache      *Cache
	sampleType profile.ValueType
	total      int64
	values     []int64 // by row; 0 for rows that filters drop
	frames     *frames.Table
	hidden     []bool // by position in frames.List; nil if no frame is hidden
	sums       []frames.Sum
}

// newFlameSource applies the filters. Those of names do not copy stacks: dropped samples count
// zero, and hidden frames are passed over.
func newFlameSource(p *profile.Profile, cache *Cache, o FlameOptions) *flameSource {
	s := &flameSource{cache: cache, sampleType: p.SampleTypes[o.SampleIndex], total: p.Total(o.SampleIndex)}
	table := frameTable{o.Granularity, o.Columns}
	sel := o.Selection
	if sel == nil {
		sel, _ = o.Filter.Select(p)
	}
	if sel != nil {
		s.frames, s.hidden = cache.table(table), sel.Hidden()
		if s.hidden == nil || s.passable() {
			s.choose(p, sel, o.SampleIndex, cache.sum(table, o.SampleIndex))
			return s
		}
		s.hidden = nil
		p = sel.Profile()
	} else {
		p = p.Filter(o.Filter)
	}
	s.cache = cache.of(p)
	s.frames, s.values, s.sums = s.cache.table(table), p.Values(o.SampleIndex), s.cache.sum(table, o.SampleIndex)
	return s
}

// passable reports whether the hidden frames can be passed over: each key has either all of its
// frames hidden or none, so that a sample that contains a shown key counts for it whatever is
// hidden; and not nearly all frames are hidden, otherwise it takes less time to copy the others.
func (s *flameSource) passable() bool {
	const shown, hidden = 1, 2
	is := make([]uint8, len(s.frames.Keys))
	n := 0
	for i, key := range s.frames.List {
		if s.hidden[i] {
			is[key] |= hidden
			n++
		} else {
			is[key] |= shown
		}
	}
	return 4*n <= 3*len(s.frames.List) && !slices.Contains(is, shown|hidden)
}

// choose sets the values of the selected rows, and derives their sums from those of all rows.
func (s *flameSource) choose(p *profile.Profile, sel *profile.Selection, sampleIndex int, sums []frames.Sum) {
	all := p.Values(sampleIndex)
	s.values, s.sums = slices.Clone(all), slices.Clone(sums)
	var dropped, kept int
	for row, v := range all {
		if v == 0 {
			continue
		}
		if sel.Rows.Has(row) {
			kept++
		} else {
			dropped++
			s.values[row] = 0
		}
	}
	switch {
	case dropped == 0:
	case kept < dropped:
		s.sums = s.frames.Sum(p, s.values)
	default: // less work than to sum what is kept
		rest := make([]int64, len(all))
		for row, v := range all {
			rest[row] = v - s.values[row]
		}
		for key, sum := range s.frames.Sum(p, rest) {
			s.sums[key].Flat -= sum.Flat
			s.sums[key].Cum -= sum.Cum
		}
	}
	if s.hidden != nil {
		s.moveFlat(p)
	}
}

// moveFlat charges each sample to its first visible frame, and drops samples without one.
func (s *flameSource) moveFlat(p *profile.Profile) {
	first := make([]int32, len(s.frames.Start)-1) // by location: the key of its innermost shown frame, or −1
	for l := range first {
		first[l] = -1
		for at := s.frames.Start[l]; at < s.frames.Start[l+1] && first[l] < 0; at++ {
			if !s.hidden[at] {
				first[l] = s.frames.List[at]
			}
		}
	}
	for key := range s.sums {
		s.sums[key].Flat = 0
	}
	for row, v := range s.values {
		if v == 0 {
			continue
		}
		stack := p.Stack(row)
		if i := slices.IndexFunc(stack, func(l int32) bool { return first[l] >= 0 }); i >= 0 {
			s.sums[first[stack[i]]].Flat += v
		} else {
			s.values[row] = 0
		}
	}
}
