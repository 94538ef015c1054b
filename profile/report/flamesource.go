package report

import (
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
)

// source is one value of a profile with the filters applied: what reports about it share.
type source struct {
	cache       *Cache // of the profile
	sampleIndex int
	sampleType  profile.ValueType
	total       int64
	values      []int64       // by row
	negative    bool          // some values are
	rows        *profile.Rows // that filters keep; nil for all
	frames      *frames.Table // without hidden frames
	sums        []frames.Sum
}

// newSource applies the filters. Those that a Selection has do not copy stacks: dropped samples
// count zero, and hidden frames are passed over. Of the options it uses those that layouts share.
func newSource(p *profile.Profile, cache *Cache, o FlameOptions) *source {
	table := frameTable{o.Granularity, o.Columns}
	s := &source{sampleIndex: o.SampleIndex, sampleType: p.SampleTypes[o.SampleIndex], total: p.Total(o.SampleIndex)}
	sel := o.Selection
	if sel == nil {
		sel, _ = o.Filter.Select(p)
	}
	var hidden []bool
	if sel == nil {
		p = p.Filter(o.Filter)
	} else if hidden = sel.Hidden(); sel.CutsStacks() || mostly(hidden) { // it takes less time to copy the others
		p, sel, o.SampleIndex = sel.Column(o.SampleIndex), nil, 0
	}
	s.cache, s.values = cache.of(p), p.Values(o.SampleIndex)
	costs := s.cache.cost(table, o.SampleIndex)
	s.negative, s.frames, s.sums = costs.Negative, costs.Table, costs.Sums
	if sel == nil {
		return s
	}
	s.rows = &sel.Rows
	if hidden == nil {
		s.sums = costs.Of(s.frames, sel.Rows)
		return s
	}
	shown, whole := costs.Table.Without(hidden)
	s.frames = shown
	if whole {
		s.sums = costs.Of(costs.Table, sel.Rows)
		s.clearHidden()
	} else {
		s.sums = costs.Of(shown, sel.Rows)
	}
	s.moveFlat(p)
	return s
}

// clearHidden sets the sums of keys without frames to zero.
func (s *source) clearHidden() {
	shown := make([]bool, len(s.sums))
	for _, k := range s.frames.List {
		shown[k] = true
	}
	for k := range s.sums {
		if !shown[k] {
			s.sums[k] = frames.Sum{}
		}
	}
}

// mostly reports whether more than three quarters are true.
func mostly(hidden []bool) bool {
	n := 0
	for _, h := range hidden {
		if h {
			n++
		}
	}
	return 4*n > 3*len(hidden)
}

// moveFlat charges each sample to its first visible frame, and drops samples without one.
func (s *source) moveFlat(p *profile.Profile) {
	first := make([]int32, len(s.frames.Start)-1) // by location: the key of its innermost shown frame, or −1
	for l := range first {
		if first[l] = -1; s.frames.Start[l] < s.frames.Start[l+1] {
			first[l] = s.frames.List[s.frames.Start[l]]
		}
	}
	for key := range s.sums {
		s.sums[key].Flat = 0
	}
	kept := p.RowsWhere(func(row int) bool {
		if !s.rows.Has(row) {
			return false
		}
		stack := p.Stack(row)
		i := slices.IndexFunc(stack, func(l int32) bool { return first[l] >= 0 })
		if i >= 0 {
			s.sums[first[stack[i]]].Flat += s.values[row]
		}
		return i >= 0
	})
	s.rows = &kept
}
