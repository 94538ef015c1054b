package window

import (
	"cmp"
	"slices"
	"sort"

	"github.com/hone-go/hone/exectrace"
)

// key identifies what is summed up together.
type key struct {
	stack exectrace.StackID
	held  bool // stack is of the whole trace, not of this reading
	state exectrace.State
	why   exectrace.Reason
}

// sampled is the state of CPU samples.
const sampled = exectrace.Running

// cell is a count and a duration.
type cell struct{ n, ns int64 }

// sums adds up states by stack; for an index, for each generation separately.
type sums struct {
	number map[key]int32
	keys   []key
	last   key // the last key looked up; its number is lastN
	lastN  int32
	now    []cell    // by key, of the current generation, or of the whole reading
	spans  []span    // generations that have ended
	began  int64     // start of the current generation
	late   []lateRun // intervals that started in a generation that has ended
}

// span is a generation that has ended.
type span struct {
	from, to int64
	cells    []keyCell
}

type keyCell struct {
	key int32
	cell
}

// lateRun is an interval that started in one generation and ended in a later one. from and to are
// the generations that it covers completely.
type lateRun struct {
	key      int32
	gen      int32 // generation where it started; its part of that one is ns
	ns       int64
	from, to int32 // whole generations: from <= i < to
}

func newSums() *sums { return &sums{number: map[key]int32{}, lastN: -1} }

func (s *sums) of(k key) int32 {
	if k == s.last && s.lastN >= 0 {
		return s.lastN
	}
	n, ok := s.number[k]
	if !ok {
		n = int32(len(s.keys))
		s.number[k] = n
		s.keys, s.now = append(s.keys, k), append(s.now, cell{})
	}
	s.last, s.lastN = k, n
	return n
}

// add adds an interval.
func (s *sums) add(k key, from, to int64, ended bool) {
	if to < from || k.state == exectrace.Unknown || k.state == exectrace.Gone {
		return
	}
	i := s.of(k)
	c := &s.now[i]
	if ended {
		c.n++
	}
	if from >= s.began || len(s.spans) == 0 {
		c.ns += to - from
		return
	}
	c.ns += to - s.began
	g := int32(sort.Search(len(s.spans), func(j int) bool { return s.spans[j].to > from }))
	s.late = append(s.late, lateRun{key: i, gen: g, ns: s.spans[g].to - from, from: g + 1, to: int32(len(s.spans))})
}

func (s *sums) sample(stack exectrace.StackID) { s.now[s.of(key{stack: stack, state: sampled})].n++ }

// next ends the current generation.
func (s *sums) next(now int64) {
	if now > s.began {
		s.spans = append(s.spans, span{from: s.began, to: now, cells: s.cells()})
		clear(s.now)
	}
	s.began = now
}

func (s *sums) cells() []keyCell {
	var out []keyCell
	for i, c := range s.now {
		if c != (cell{}) {
			out = append(out, keyCell{int32(i), c})
		}
	}
	return out
}

// settle adds the intervals that cover several generations to each of them. It is called at the end
// of the trace.
func (s *sums) settle() {
	if n := len(s.spans); n > 0 { // what the end of the trace closed
		last := &s.spans[n-1]
		last.cells = merge(last.cells, s.cells())
		clear(s.now)
	}
	// whole[i] has, by key, the change in the number of intervals that cover generation i, at its
	// start.
	whole := make([]map[int32]int64, len(s.spans)+1)
	part := make([]map[int32]int64, len(s.spans))
	bump := func(m *map[int32]int64, k int32, v int64) {
		if *m == nil {
			*m = map[int32]int64{}
		}
		(*m)[k] += v
	}
	for _, l := range s.late {
		bump(&part[l.gen], l.key, l.ns)
		if l.from < l.to {
			bump(&whole[l.from], l.key, 1)
			bump(&whole[l.to], l.key, -1)
		}
	}
	s.late = nil
	open := map[int32]int64{}
	for i := range s.spans {
		for k, v := range whole[i] {
			if open[k] += v; open[k] == 0 {
				delete(open, k)
			}
		}
		more := make([]keyCell, 0, len(part[i])+len(open))
		for k, ns := range part[i] {
			more = append(more, keyCell{k, cell{0, ns}})
		}
		for k, n := range open {
			more = append(more, keyCell{k, cell{0, n * (s.spans[i].to - s.spans[i].from)}})
		}
		s.spans[i].cells = merge(s.spans[i].cells, more)
	}
}

// merge adds up cells by key, in the order of keys.
func merge(a, b []keyCell) []keyCell {
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(x, y keyCell) int { return cmp.Compare(x.key, y.key) })
	out := all[:0]
	for _, c := range all {
		if n := len(out); n > 0 && out[n-1].key == c.key {
			out[n-1].n += c.n
			out[n-1].ns += c.ns
			continue
		}
		out = append(out, c)
	}
	return slices.Clip(out)
}
