package render

import (
	"fmt"
	"io"
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// Speedscope writes the file format of speedscope.app (its file-format-schema.json): one profile of
// samples per sample type, and the view's own is shown first. The format cannot express negative
// values. Only the stacks of one sample type are in memory at a time.
func Speedscope(w io.Writer, source string, v *report.View) error {
	f := speedscopeFile{source: source, view: v}
	for i := range v.Profile.SampleTypes { // before anything is written
		if err := f.refuseNegative(i); err != nil {
			return err
		}
	}
	f.out = newObjectWriter(w, struct {
		Schema   string `json:"$schema"`
		Exporter string `json:"exporter"`
		Name     string `json:"name"`
		Active   int    `json:"activeProfileIndex"`
	}{"https://www.speedscope.app/file-format-schema.json", "hone", source, v.Index})
	f.out.field("profiles")
	f.out.text("[")
	for i := range v.Profile.SampleTypes {
		if i > 0 {
			f.out.text(",")
		}
		if err := f.profile(i); err != nil {
			return err
		}
	}
	f.out.text("]")
	f.out.field("shared")
	shared := newObjectWriter(w, nil)
	shared.array("frames", len(f.frames), func(i int) any {
		fr := &f.frames[i]
		return speedscopeFrame{fr.Name, fr.File, fr.Line, fr.Column}
	})
	if err := shared.end(); err != nil {
		return err
	}
	return f.out.end()
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
	Col  int64  `json:"col,omitempty"`
}

// speedscopeFile is the file that is being written.
type speedscopeFile struct {
	source string
	view   *report.View
	out    *objectWriter
	frames []profile.Frame // of all profiles so far
}

func (f *speedscopeFile) stacks(sampleType int) (*report.StackTable, error) {
	one := *f.view
	one.Index, one.SampleType = sampleType, f.view.Profile.SampleTypes[sampleType]
	p, err := NewStacks(f.source, &one)
	return p.Stacks, err
}

// refuseNegative returns an error if a stack has a negative value. It sums stacks only if a sample
// is negative.
func (f *speedscopeFile) refuseNegative(sampleType int) error {
	if !slices.ContainsFunc(f.view.Profile.Values(sampleType), func(v int64) bool { return v < 0 }) {
		return nil
	}
	s, err := f.stacks(sampleType)
	if err != nil {
		return err
	}
	for _, r := range s.Rows {
		if r.Value < 0 {
			return fmt.Errorf("%s: a stack has %d %s, and speedscope does not support negative values; -drop_negative leaves them out, `hone flame` shows them",
				f.source, r.Value, f.view.Profile.SampleTypes[sampleType].Type)
		}
	}
	return nil
}

func (f *speedscopeFile) profile(sampleType int) error {
	s, err := f.stacks(sampleType)
	if err != nil {
		return err
	}
	first := int32(0)
	if !slices.Equal(f.frames, s.Frames) { // usually the same for all sample types
		first = int32(len(f.frames))
		f.frames = append(f.frames, s.Frames...)
	}
	var end int64
	for _, r := range s.Rows {
		end += f.view.Divide(r.Value)
	}
	t := f.view.Profile.SampleTypes[sampleType]
	o := newObjectWriter(f.out.w, struct {
		Type       string `json:"type"`
		Name       string `json:"name"`
		Unit       string `json:"unit"`
		StartValue int64  `json:"startValue"`
		EndValue   int64  `json:"endValue"`
	}{"sampled", t.Type, speedscopeUnit(t.Unit), 0, end})
	stack := []int32{}
	o.array("samples", len(s.Rows), func(i int) any { // root first
		stack = stack[:0]
		for _, frame := range slices.Backward(s.Rows[i].Frames) {
			stack = append(stack, first+frame)
		}
		return stack
	})
	o.array("weights", len(s.Rows), func(i int) any { return f.view.Divide(s.Rows[i].Value) })
	return o.end()
}

// speedscopeUnit returns the format's unit for a profile's unit.
func speedscopeUnit(unit string) string {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
		return unit
	}
	return "none"
}
