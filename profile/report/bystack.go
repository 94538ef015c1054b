package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"

	"github.com/hone-go/hone/profile/internal/columns"

	"cmp"
	"fmt"
	"slices"
)

// StackRow is one distinct stack and what it cost.
type StackRow struct {
	Frames []int32 // indices of StackTable.Frames, leaf first, inlined calls expanded; must not be changed
	Value  int64   // sum over the samples with this stack, whatever their labels
}

// StackTable is a profile's value by whole stack.
type StackTable struct {
	SampleType profile.ValueType
	Frames     []profile.Frame
	Rows       []StackRow // largest magnitude first; stacks whose value is zero are left out
	Total      int64      // as Table.Total
}

// Stacks sums one value by stack at a granularity. Of the options it uses SampleIndex, Granularity,
// Columns, Filter and Limit.
func Stacks(p *profile.Profile, o TopOptions) (*StackTable, error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, fmt.Errorf("stacks: %w", err)
	}
	view := p.Filter(o.Filter)
	f := frames.By(view, o.Granularity, o.Columns)
	rows := columns.NewRowIndex()
	rows.Grow(view.NumSamples())
	var (
		stacks columns.Stacks // indices of f.Keys
		sets   []int32        // all 0: labels are ignored
		sums   []int64
	)
	for row, v := range view.Values(o.SampleIndex) {
		if v == 0 {
			continue
		}
		stack := expand(f, view.Stack(row), &stacks)
		at, known := rows.Find(&stacks, sets, stack, 0)
		if known {
			sums[at] += v
			continue
		}
		stacks.Commit(len(stack))
		sets = append(sets, 0)
		sums = append(sums, v)
	}

	s := &StackTable{SampleType: p.SampleTypes[o.SampleIndex], Total: p.Total(o.SampleIndex)}
	s.Frames = f.Keys
	for row, v := range sums {
		if v != 0 {
			s.Rows = append(s.Rows, StackRow{Frames: stacks.Row(row), Value: v})
		}
	}
	slices.SortStableFunc(s.Rows, func(a, b StackRow) int { return cmp.Compare(abs(b.Value), abs(a.Value)) })
	if o.Limit > 0 && len(s.Rows) > o.Limit {
		s.Rows = s.Rows[:o.Limit]
	}
	return s, nil
}

// expand appends the keys of a stack's frames to a column of stacks and returns them.
func expand(f *frames.Table, stack []int32, to *columns.Stacks) []int32 {
	n := 0
	for _, l := range stack {
		n += int(f.Start[l+1] - f.Start[l])
	}
	room := to.Reserve(n)[:0]
	for _, l := range stack {
		room = append(room, f.List[f.Start[l]:f.Start[l+1]]...)
	}
	return room
}
