package profile

import (
	"cmp"
	"fmt"
	"slices"
)

// Frame is a frame of a Stacks table, at its granularity; see Row for its fields.
type Frame struct {
	Name, File   string
	Line, Column int64
	Address      uint64
}

// StackRow is one distinct stack and what it cost.
type StackRow struct {
	Frames []int32 // into Stacks.Frames, leaf first, inlined calls expanded; not to be changed
	Value  int64   // sum over the samples with this stack, whatever their labels
}

// Stacks is a profile's value by whole stacks.
type Stacks struct {
	SampleType ValueType
	Frames     []Frame
	Rows       []StackRow // the largest magnitude first; stacks of zero are left out
	Total      int64      // as Top.Total
}

// Stacks sums one value by stack at a granularity. It obeys SampleIndex,
// Granularity, Columns, Filter and Limit of the options.
func (p *Profile) Stacks(o TopOptions) (*Stacks, error) {
	if err := p.checkIndex(o.SampleIndex); err != nil {
		return nil, fmt.Errorf("stacks: %w", err)
	}
	view := p.Filter(o.Filter)
	f := framesBy(view, o.Granularity, o.Columns)
	rows := newRowIndex()
	rows.grow(view.NumSamples())
	sums := &Profile{values: make([][]int64, 1)} // its "locations" are keys of f
	for row, v := range view.values[o.SampleIndex] {
		if v == 0 {
			continue
		}
		stack := f.expand(view.stacks.row(row), &sums.stacks)
		at, known := rows.find(sums, stack, 0)
		if known {
			sums.values[0][at] += v
			continue
		}
		sums.stacks.commit(len(stack))
		sums.labelSet = append(sums.labelSet, 0)
		sums.values[0] = append(sums.values[0], v)
	}

	s := &Stacks{SampleType: p.SampleTypes[o.SampleIndex], Total: p.Total(o.SampleIndex)}
	for _, k := range f.keys {
		s.Frames = append(s.Frames, Frame{Name: k.name, File: k.file, Line: k.line, Column: k.column, Address: k.address})
	}
	for row, v := range sums.values[0] {
		if v != 0 {
			s.Rows = append(s.Rows, StackRow{Frames: sums.stacks.row(row), Value: v})
		}
	}
	slices.SortStableFunc(s.Rows, func(a, b StackRow) int { return cmp.Compare(abs(b.Value), abs(a.Value)) })
	if o.Limit > 0 && len(s.Rows) > o.Limit {
		s.Rows = s.Rows[:o.Limit]
	}
	return s, nil
}

// expand writes the keys of a stack's frames to room of a column.
func (f *frames) expand(stack []int32, to *stackColumn) []int32 {
	n := 0
	for _, l := range stack {
		n += int(f.start[l+1] - f.start[l])
	}
	room := to.reserve(n)[:0]
	for _, l := range stack {
		room = append(room, f.list[f.start[l]:f.start[l+1]]...)
	}
	return room
}
