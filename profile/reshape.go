package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"
	"github.com/hone-go/hone/profile/measure"

	"slices"
	"strings"
)

// WithLabelFrames adds frames for labels with these keys: above the stack for roots, the first
// outermost, and below it for leaves, the last innermost. The function of such a frame is the
// values of the label, and its file is the key. Numbers are printed in unit. A sample without the
// label gets a frame without a name.
func (p *Profile) WithLabelFrames(roots, leaves []string, unit string) *Profile {
	if len(roots) == 0 && len(leaves) == 0 {
		return p
	}
	q := *p
	q.Functions, q.Locations = slices.Clone(p.Functions), slices.Clone(p.Locations)
	known := map[[2]string]int32{}
	frame := func(labels []Label, key string) int32 {
		at := [2]string{labelText(labels, key, unit), key}
		l, ok := known[at]
		if !ok {
			l = int32(len(q.Locations))
			known[at] = l
			q.Locations = append(q.Locations, Location{Mapping: -1, Lines: []Line{{Func: int32(len(q.Functions))}}})
			q.Functions = append(q.Functions, Function{Name: at[0], Filename: key})
		}
		return l
	}
	above, below := make([][]int32, p.NumLabelSets()), make([][]int32, p.NumLabelSets())
	for set := range above {
		labels := p.LabelsOf(set)
		for _, key := range slices.Backward(roots) {
			above[set] = append(above[set], frame(labels, key))
		}
		for _, key := range slices.Backward(leaves) {
			below[set] = append(below[set], frame(labels, key))
		}
	}
	q.stacks = columns.Stacks{}
	for row := range p.NumSamples() {
		set, stack := p.LabelSet(row), p.stacks.Row(row)
		n := len(below[set]) + len(stack) + len(above[set])
		room := q.stacks.Reserve(n)[:0]
		room = append(room, below[set]...)
		room = append(room, stack...)
		_ = append(room, above[set]...)
		q.stacks.Commit(n)
	}
	return &q
}

// labelText joins the values of a label set for a key.
func labelText(labels []Label, key, unit string) string {
	var values []string
	// Numbers without a unit are printed plainly, whatever unit was asked for.
	hasUnit := slices.ContainsFunc(labels, func(l Label) bool { return l.Key == key && l.Unit != "" })
	if !hasUnit {
		unit = ""
	}
	for _, l := range labels {
		switch {
		case l.Key != key:
		case l.Str != "":
			values = append(values, l.Str)
		default:
			values = append(values, measure.Format(l.Num, l.Unit, unit))
		}
	}
	return strings.Join(values, ",")
}

// WithoutInlined reduces each location to its function in the binary; the lines inlined into it are
// charged to that function. Columns, which distinguish calls within a line, are removed too unless
// columns is true, as in pprof.
func (p *Profile) WithoutInlined(columns bool) *Profile {
	q := *p
	q.Locations = slices.Clone(p.Locations)
	for i := range q.Locations {
		if l := &q.Locations[i]; len(l.Lines) > 1 {
			l.Lines = l.Lines[len(l.Lines)-1:]
		}
		if l := &q.Locations[i]; len(l.Lines) == 1 && l.Lines[0].Column != 0 && !columns {
			line := l.Lines[0]
			line.Column = 0
			l.Lines = []Line{line}
		}
	}
	return &q
}

// WithFiles returns the profile with its functions' file names mapped, or p itself if none changes.
func (p *Profile) WithFiles(rename func(file string) string) *Profile {
	q := *p
	q.Functions = nil
	for i := range p.Functions {
		file := p.Functions[i].Filename
		name := rename(file)
		if name == file {
			continue
		}
		if q.Functions == nil {
			q.Functions = slices.Clone(p.Functions)
		}
		q.Functions[i].Filename = name
	}
	if q.Functions == nil {
		return p
	}
	return &q
}

// WithNames returns the profile with the names of its functions and their files mapped.
func (p *Profile) WithNames(rename func(name string) string) *Profile {
	q := *p
	q.Functions = slices.Clone(p.Functions)
	for i := range q.Functions {
		f := &q.Functions[i]
		f.Name, f.SystemName, f.Filename = rename(f.Name), rename(f.SystemName), rename(f.Filename)
	}
	return &q
}

// MapValues returns the profile with every value of every column mapped.
func (p *Profile) MapValues(f func(sampleType int, value int64) int64) *Profile {
	q := *p
	q.values = make([][]int64, len(p.values))
	for i, column := range p.values {
		q.values[i] = make([]int64, len(column))
		for row, v := range column {
			q.values[i][row] = f(i, v)
		}
	}
	return &q
}
