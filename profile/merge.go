package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"

	"errors"
	"fmt"
	"slices"
)

// Merge sums profiles of compatible types: sample types and period type must be equal. Rows with
// the same stack and labels are merged, rows of zeros are dropped, and tables contain only what
// rows use. The header is as in google/pprof: the earliest time, the sum of the durations, the
// largest period, all comments, and the rest from the first profile that has it.
func Merge(ps ...*Profile) (*Profile, error) {
	if len(ps) == 0 {
		return nil, errors.New("no profiles to merge")
	}
	m := NewMerger()
	for i, p := range ps {
		if err := m.Add(p); err != nil {
			return nil, fmt.Errorf("merge profile %d of %d: %w", i+1, len(ps), err)
		}
	}
	return m.Profile()
}

// Merger sums profiles one after the other, so that a caller needs only one of them in memory at a
// time. The zero Merger is not usable; call NewMerger.
type Merger struct {
	out    *Profile
	n      int // number of profiles added
	tables *tables
	labels *labelInterner
	rows   columns.RowIndex
	lines  []Line // of the location that is being translated
}

// NewMerger returns a Merger without profiles.
func NewMerger() *Merger {
	p := &Profile{}
	return &Merger{out: p, tables: newTables(p), labels: newLabelInterner(), rows: columns.NewRowIndex()}
}

// Add adds a profile. An incompatible one is an error, and nothing is added.
func (m *Merger) Add(p *Profile) error {
	if m.n > 0 {
		if err := compatible(m.out, p); err != nil {
			return err
		}
	}
	m.addHeader(p)
	m.add(p, 1)
	return nil
}

// Profile returns the sum. The Merger cannot be used afterwards.
func (m *Merger) Profile() (*Profile, error) {
	if m.n == 0 {
		return nil, errors.New("no profiles to merge")
	}
	p := m.out
	if len(m.labels.table.sets) > 1 {
		p.labels = m.labels.table
	} else {
		p.labelSet = nil
	}
	zero := false
	for row := range p.NumSamples() {
		zero = zero || p.isZero(row)
	}
	if !zero {
		return p, nil
	}
	// Values cancelled out. Merge once more, so that tables contain only what is used.
	again := NewMerger()
	if err := again.Add(p); err != nil {
		return nil, err
	}
	return again.Profile()
}

func (p *Profile) isZero(row int) bool {
	for _, column := range p.values {
		if column[row] != 0 {
			return false
		}
	}
	return true
}

func compatible(a, b *Profile) error {
	if a.PeriodType != b.PeriodType {
		return fmt.Errorf("period types differ: %v and %v", a.PeriodType, b.PeriodType)
	}
	if !slices.Equal(a.SampleTypes, b.SampleTypes) {
		return fmt.Errorf("sample types differ: %v and %v", a.SampleTypes, b.SampleTypes)
	}
	return nil
}

func (m *Merger) addHeader(p *Profile) {
	out := m.out
	if m.n == 0 {
		out.SampleTypes = slices.Clone(p.SampleTypes)
		out.values = make([][]int64, len(p.SampleTypes))
		out.PeriodType = p.PeriodType
		out.DropFrames, out.KeepFrames = p.DropFrames, p.KeepFrames
	}
	m.n++
	if p.TimeNanos != 0 && (out.TimeNanos == 0 || p.TimeNanos < out.TimeNanos) {
		out.TimeNanos = p.TimeNanos
	}
	out.DurationNanos += p.DurationNanos
	if out.Period == 0 || out.Period < p.Period { // 0 means unknown
		out.Period = p.Period
	}
	for _, c := range p.Comments {
		if !slices.Contains(out.Comments, c) {
			out.Comments = append(out.Comments, c)
		}
	}
	if out.DefaultSampleType == "" {
		out.DefaultSampleType = p.DefaultSampleType
	}
	if out.DocURL == "" {
		out.DocURL = p.DocURL
	}
}

// source translates one profile's indices into those of the sum. It is filled in on first use; −1
// means not translated yet.
type source struct {
	p                    *Profile
	fns, locs, maps, set []int32
}

func untranslated(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

func newSource(p *Profile) *source {
	return &source{p, untranslated(len(p.Functions)), untranslated(len(p.Locations)), untranslated(len(p.Mappings)), untranslated(p.NumLabelSets())}
}

// add adds the rows of p, times sign.
func (m *Merger) add(p *Profile, sign int64) {
	src := newSource(p)
	if len(m.out.Mappings) == 0 && len(p.Mappings) > 0 {
		m.mapping(src, 0) // the first mapping is the main binary and stays the first
	}
	m.rows.Grow(p.NumSamples())
	out := m.out
	for row := range p.NumSamples() {
		if p.isZero(row) {
			continue
		}
		stack := p.stacks.Row(row)
		room := out.stacks.Reserve(len(stack))
		for i, l := range stack {
			if room[i] = src.locs[l]; room[i] < 0 {
				room[i] = m.location(src, l)
			}
		}
		set := m.set(src, p.LabelSet(row))
		at, known := m.rows.Find(&out.stacks, out.labelSet, room, set)
		if known {
			for i, column := range p.values {
				out.values[i][at] += sign * column[row]
			}
			continue
		}
		out.stacks.Commit(len(stack))
		out.labelSet = columns.AppendDoubling(out.labelSet, set)
		for i, column := range p.values {
			out.values[i] = columns.AppendDoubling(out.values[i], sign*column[row])
		}
	}
}

func (m *Merger) location(src *source, l int32) int32 {
	loc := src.p.Locations[l]
	if loc.Mapping >= 0 {
		from := src.p.Mappings[loc.Mapping].Start
		loc.Mapping = m.mapping(src, loc.Mapping)
		loc.Address += m.out.Mappings[loc.Mapping].Start - from
	}
	m.lines = m.lines[:0]
	for _, ln := range loc.Lines {
		if src.fns[ln.Func] < 0 {
			src.fns[ln.Func] = m.tables.function(src.p.Functions[ln.Func])
		}
		ln.Func = src.fns[ln.Func]
		m.lines = append(m.lines, ln)
	}
	loc.Lines = m.lines
	src.locs[l] = m.tables.location(loc)
	return src.locs[l]
}

func (m *Merger) mapping(src *source, i int32) int32 {
	if src.maps[i] < 0 {
		src.maps[i] = m.tables.mapping(src.p.Mappings[i])
	}
	return src.maps[i]
}

func (m *Merger) set(src *source, set int) int32 {
	if set == 0 {
		return 0
	}
	if src.set[set] < 0 {
		src.set[set] = m.labels.addLabels(src.p.LabelsOf(set))
	}
	return src.set[set]
}
