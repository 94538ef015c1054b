package profile

import (
	"fmt"
	"iter"
)

// Trace is one sample row as a report shows it.
type Trace struct {
	Sample int // row, for Labels and Values
	Value  int64
	Frames []TraceFrame // leaf first
}

// TraceFrame is one frame of a Trace.
type TraceFrame struct {
	Frame
	Inlined bool // into the frame that follows
}

// Traces yields the rows of a profile, with their frames at the granularity,
// one by one in the profile's order; rows without frames are left out. It obeys
// SampleIndex, Granularity and Filter of the options. Frames holds until the next row.
func (p *Profile) Traces(o TopOptions) (*Profile, iter.Seq[Trace], error) {
	if err := p.checkIndex(o.SampleIndex); err != nil {
		return nil, nil, fmt.Errorf("traces: %w", err)
	}
	view := p.Filter(o.Filter)
	f := newFrames(view, o.Granularity.key)
	return view, func(yield func(Trace) bool) {
		t := Trace{}
		for row, v := range view.values[o.SampleIndex] {
			t.Sample, t.Value, t.Frames = row, v, t.Frames[:0]
			for _, l := range view.stacks.row(row) {
				keys := f.list[f.start[l]:f.start[l+1]]
				for i, k := range keys {
					key := f.keys[k]
					t.Frames = append(t.Frames, TraceFrame{
						Frame:   Frame{Name: key.name, File: key.file, Line: key.line},
						Inlined: i < len(keys)-1,
					})
				}
			}
			if len(t.Frames) > 0 && !yield(t) {
				return
			}
		}
	}, nil
}
