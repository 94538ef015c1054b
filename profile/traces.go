package profile

import "iter"

// Trace is one sample as a report shows it.
type Trace struct {
	Sample int // row of the view's profile, for Labels and Values
	Value  int64
	Frames []Row // leaf first; only what says where a frame is, without costs
}

// Traces yields the samples of a view one by one, in the profile's order, with
// their frames at the view's granularity. Row.Inline is AllInlined for a frame that was
// inlined into the one that follows. Samples without frames are left out. With
// Mean a value is the mean of its sample. Frames holds until the next sample.
func (v *View) Traces() iter.Seq[Trace] {
	p := v.Profile
	f := framesBy(p, v.Granularity, v.ShowColumns)
	return func(yield func(Trace) bool) {
		t := Trace{}
		for row, value := range p.values[v.Index] {
			t.Sample, t.Value, t.Frames = row, value, t.Frames[:0]
			if v.Mean && p.values[0][row] != 0 {
				t.Value /= p.values[0][row]
			}
			for _, l := range p.stacks.row(row) {
				keys := f.list[f.start[l]:f.start[l+1]]
				for i, k := range keys {
					key := f.keys[k]
					frame := Row{Name: key.name, File: key.file, Line: key.line, Column: key.column, Address: key.address}
					if i < len(keys)-1 {
						frame.Inline = AllInlined
					}
					t.Frames = append(t.Frames, frame)
				}
			}
			if len(t.Frames) > 0 && !yield(t) {
				return
			}
		}
	}
}
