package report

import (
	"math"
	"math/bits"
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/columns"
	"github.com/hone-go/hone/profile/internal/frames"
)

// source is one value of a profile with the filters applied: what reports about it share.
type source struct {
	cache       *Cache           // of the profile
	p           *profile.Profile // whose stacks are read
	sampleIndex int
	sampleType  profile.ValueType
	total       int64
	values      []int64       // by row
	negative    bool          // some values are
	rows        *profile.Rows // that filters keep; nil for all
	frames      *frames.Table // without hidden frames
	sums        []frames.Sum  // by key
	costs       *frames.Costs // of all rows and frames

	// Of filters that keep little of most stacks:
	from []byte // by location: the callers of the outermost of these are dropped; nil for none
	// lengths has by row that is kept the number of locations without these callers, or manyLeft;
	// nil if unknown.
	lengths []uint16
	// fewCallers reports that from drops few frames.
	fewCallers bool
	shown      columns.Set // the locations that have frames left; nil if most have
	few        bool        // few locations have
	// manyRows reports that filters seem to keep more than a quarter of the rows.
	manyRows bool
	// outerHidden reports that most stacks start with several hidden frames, from the root or,
	// second, from the leaf.
	outerHidden [2]bool
	picked      []int32
	// complete is each for the first time: it also sets what depends on all stacks, rows and sums.
	complete func(visit func(row int, stack []int32))
}

// manyLeft stands for so many locations and for more.
const manyLeft = math.MaxUint16

// newSource applies the filters. Those that a Selection has do not copy stacks: dropped samples
// count zero, and hidden frames are passed over. Of the options it uses those that layouts share.
func newSource(p *profile.Profile, cache *Cache, o FlameOptions) *source {
	s := &source{sampleIndex: o.SampleIndex, sampleType: p.SampleTypes[o.SampleIndex], total: p.Total(o.SampleIndex)}
	sel := o.Selection
	if sel == nil {
		sel, _ = o.Filter.Select(p)
	}
	if sel == nil {
		p = p.Filter(o.Filter)
	}
	s.p, s.cache, s.values = p, cache.of(p), p.Values(o.SampleIndex)
	costs := s.cache.cost(frameTable{o.Granularity, o.Columns}, o.SampleIndex)
	s.negative, s.frames, s.costs = costs.Negative, costs.Table, costs
	if sel == nil {
		s.sums = costs.Sums()
		return s
	}
	if from, hidden := sel.Cut(); from != nil {
		s.keep(sel.Rows())
		s.cut(costs, from, hidden)
	} else if hidden := sel.Hidden(); hidden != nil {
		s.hide(costs, sel, hidden)
	} else {
		s.sums = costs.Of(s.frames, sel)
		s.keep(sel.Rows())
	}
	return s
}

// keep drops all other rows.
func (s *source) keep(rows profile.Rows) { s.rows = &rows }

// cut drops the callers of locations, as Selection.Cut returns them.
func (s *source) cut(costs *frames.Costs, from []byte, hidden []bool) {
	s.from = from
	if hidden != nil {
		s.frames = costs.Table.Without(hidden)
	}
	callers, all := s.sampleCut()
	s.fewCallers = 10*callers < all
	lengths := make([]uint16, len(s.values))
	if 3*callers > 2*all || s.rows.Len() < len(s.values) {
		part := costs.Part(s.frames)
		s.complete = func(visit func(row int, stack []int32)) {
			s.keepRest(func(row int, stack []int32) {
				part.Add(row, stack)
				lengths[row] = uint16(min(len(stack), manyLeft))
				visit(row, stack)
			})
			s.lengths, s.sums = lengths, part.Sums()
		}
		return
	}
	part := costs.Rest(s.frames)
	s.complete = func(visit func(row int, stack []int32)) {
		kept := s.p.RowsWhere(func(row int) bool {
			stack := s.p.Stack(row)
			n := part.Cut(row, stack, from)
			if lengths[row] = uint16(min(n, manyLeft)); n > 0 {
				visit(row, stack[:n])
			}
			return n > 0
		})
		s.rows, s.lengths, s.sums = &kept, lengths, part.Sums()
	}
}

// sampleCut returns how many locations of some stacks are dropped, and how many they have.
func (s *source) sampleCut() (dropped, all int) {
	s.sample(64, func(row int) {
		stack := s.p.Stack(row)
		dropped += len(stack) - len(s.cutStack(row))
		all += len(stack)
	})
	return dropped, all
}

// sample calls visit with one of step rows. It takes several neighbours at a time, because the
// processor reads ahead; distant stacks are in no cache.
func (s *source) sample(step int, visit func(row int)) {
	const neighbours = 16
	for from := 0; from < len(s.values); from += step * neighbours {
		for row := from; row < min(from+neighbours, len(s.values)); row++ {
			visit(row)
		}
	}
}

// hide passes over hidden frames. It charges each sample to its first visible frame.
func (s *source) hide(costs *frames.Costs, sel *profile.Selection, hidden []bool) {
	shown := costs.Table.Without(hidden)
	s.frames, s.sums = shown, costs.Of(shown, sel)
	s.keep(sel.Rows())
	first := make([]int32, len(shown.Start)-1) // by location: the key of its innermost shown frame, or −1
	for l := range first {
		if first[l] = -1; shown.Start[l] < shown.Start[l+1] {
			first[l] = shown.List[shown.Start[l]]
		}
	}
	for key := range s.sums {
		s.sums[key].Flat = 0
	}
	s.few = mostly(hidden)
	s.outerHidden = s.sampleHidden(first)
	if s.few || s.outerHidden[0] || s.outerHidden[1] {
		s.shown = columns.NewSet(len(first))
		for l := range first {
			if first[l] >= 0 {
				s.shown.Add(int32(l))
			}
		}
	}
	if s.few {
		s.outerHidden = [2]bool{true, true}
		s.complete = func(visit func(row int, stack []int32)) {
			s.keepRest(func(row int, stack []int32) {
				s.sums[first[stack[0]]].Flat += s.values[row]
				visit(row, stack)
			})
		}
		return
	}
	kept := s.p.RowsWhere(func(row int) bool {
		if !s.rows.Has(row) {
			return false
		}
		stack := s.p.Stack(row)
		i := slices.IndexFunc(stack, func(l int32) bool { return first[l] >= 0 })
		if i >= 0 {
			s.sums[first[stack[i]]].Flat += s.values[row]
		}
		return i >= 0
	})
	s.rows = &kept
}

// sampleHidden returns outerHidden, from some stacks. Each hidden frame multiplies the nodes of the
// tree of locations that the next frame belongs to.
func (s *source) sampleHidden(first []int32) [2]bool {
	const many = 2 // a stack
	var hidden [2]int
	stacks := 0
	s.sample(64, func(row int) {
		if !s.rows.Has(row) {
			return
		}
		stacks++
		stack := s.p.Stack(row)
		for i := len(stack) - 1; i >= 0 && first[stack[i]] < 0; i-- {
			hidden[0]++
		}
		for i := 0; i < len(stack) && first[stack[i]] < 0; i++ {
			hidden[1]++
		}
	})
	return [2]bool{hidden[0] > many*stacks, hidden[1] > many*stacks}
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

// finish makes rows and sums valid, if only each does.
func (s *source) finish() {
	if s.complete != nil {
		s.each(func(int, []int32) {})
	}
}

// each calls visit with the rows that filters keep, and with the locations of their stacks that
// have frames left. The stack is valid until visit returns.
func (s *source) each(visit func(row int, stack []int32)) {
	if complete := s.complete; complete != nil {
		s.complete = nil
		complete(visit)
		return
	}
	n := s.p.NumSamples()
	if s.rows == nil {
		for row := range n {
			visit(row, s.p.Stack(row))
		}
		return
	}
	for i := range (n + 63) / 64 {
		for left := s.rows.Word(i); left != 0; left &= left - 1 {
			row := 64*i + bits.TrailingZeros64(left)
			visit(row, s.rest(row))
		}
	}
}

// keepRest calls visit with the rows that have locations left, and keeps only these.
func (s *source) keepRest(visit func(row int, stack []int32)) {
	kept := s.p.RowsWhere(func(row int) bool {
		if !s.rows.Has(row) {
			return false
		}
		stack := s.rest(row)
		if len(stack) == 0 {
			return false
		}
		visit(row, stack)
		return true
	})
	s.rows = &kept
}

// rest returns the locations of a row's stack that filters keep, until the next call.
func (s *source) rest(row int) []int32 {
	stack := s.cutStack(row)
	if s.shown == nil {
		return stack
	}
	if len(s.picked) < len(stack) {
		s.picked = make([]int32, max(256, 2*len(stack)))
	}
	return s.picked[:columns.Pick(s.picked, stack, s.shown)]
}

// cutStack is rest with locations that have no frames left.
func (s *source) cutStack(row int) []int32 {
	stack := s.p.Stack(row)
	if s.from == nil {
		return stack
	}
	if s.lengths != nil && s.lengths[row] < manyLeft {
		return stack[:s.lengths[row]]
	}
	return stack[:columns.LastOf(stack, s.from)+1]
}

// settle sets manyRows, and calls finish if filters seem to keep few rows. Then it takes less time
// to read these twice than to have memory for all.
func (s *source) settle() {
	if s.complete == nil {
		s.manyRows = s.rows == nil || 4*s.rows.Len() > len(s.values)
		return
	}
	looked, kept := 0, 0
	s.sample(64, func(row int) {
		looked++
		if s.rows.Has(row) && len(s.rest(row)) > 0 {
			kept++
		}
	})
	s.manyRows = 4*kept > looked
	if 16*kept < looked {
		s.finish()
	}
}

// readsStacks reports whether a layout reads the stacks of the rows that filters keep. Otherwise it
// uses the order of all stacks.
func (s *source) readsStacks(inverted bool) bool {
	if s.fewRows() {
		return true
	}
	if inverted {
		return s.from != nil || s.outerHidden[1]
	}
	return s.from != nil && !s.fewCallers || s.outerHidden[0]
}

// fewRows reports whether filters keep so few rows that it takes less time to read their stacks
// than to use the order of all.
func (s *source) fewRows() bool {
	return s.complete == nil && s.rows != nil && 64*s.rows.Len() < len(s.values)
}

// key returns the names that siblings of a flame graph are sorted by.
func (s *source) key(function int32) (name, file string, line int64) {
	k := &s.frames.Keys[function]
	return k.Name, k.File, k.Line
}
