package report

import (
	"github.com/hone-go/hone/profile/internal/frames"
	"iter"
)

// Trace is one sample as a report shows it.
type Trace struct {
	Sample int // row of the view's profile, an argument of Labels and Values
	Value  int64
	Frames []TraceFrame // leaf first
}

// TraceFrame is one frame of a Trace.
type TraceFrame struct {
	Row     int32 // index in the rows that Traces returns
	Inlined bool  // into the next frame
}

// Traces returns the samples of a view in the profile's order. Their frames, at the view's
// granularity, are indices of the returned rows, which have names and places but no costs. Samples
// without frames are left out. With Mean, a value is the mean of its sample. Trace.Frames is valid
// until the next sample.
func (v *View) Traces() ([]Row, iter.Seq[Trace]) {
	p := v.Profile
	f := frames.By(p, v.Granularity, v.ShowColumns)
	rows := make([]Row, len(f.Keys))
	for i, k := range f.Keys {
		rows[i] = Row{Name: k.Name, File: k.File, Line: k.Line, Column: k.Column, Address: k.Address}
	}
	return rows, func(yield func(Trace) bool) {
		t := Trace{}
		for row, value := range p.Values(v.Index) {
			t.Sample, t.Value, t.Frames = row, value, t.Frames[:0]
			if v.Mean && p.Values(0)[row] != 0 {
				t.Value /= p.Values(0)[row]
			}
			for _, l := range p.Stack(row) {
				keys := f.List[f.Start[l]:f.Start[l+1]]
				for i, k := range keys {
					t.Frames = append(t.Frames, TraceFrame{Row: k, Inlined: i < len(keys)-1})
				}
			}
			if len(t.Frames) > 0 && !yield(t) {
				return
			}
		}
	}
}
