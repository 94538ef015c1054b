package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"

	"fmt"
	"strconv"
	"strings"
)

// ValueType names a value and its unit, e.g. {"cpu", "nanoseconds"}.
type ValueType struct{ Type, Unit string }

// Function is an entry of the function table.
type Function struct {
	Name, SystemName, Filename string
	StartLine                  int64
}

// Line is one (function, line) of a location. A location has several lines if calls were inlined,
// the innermost (leaf) first.
type Line struct {
	Func   int32 // index into Profile.Functions
	Line   int64
	Column int64
}

// Location is an entry of the location table.
type Location struct {
	Address  uint64
	Mapping  int32 // index into Profile.Mappings, -1 for none
	IsFolded bool
	Lines    []Line
}

// Mapping is an entry of the mapping table.
type Mapping struct {
	Start, Limit, Offset                                  uint64
	File, BuildID                                         string
	HasFunctions, HasFilenames, HasLineNumbers, HasInline bool
}

// Profile is a decoded profile. It is immutable once built: readers may share it.
type Profile struct {
	SampleTypes       []ValueType
	DefaultSampleType string
	DropFrames        string // regexp, see DropUninteresting
	KeepFrames        string
	TimeNanos         int64 // Unix time; 0 if unknown
	DurationNanos     int64 // 0 if unknown
	PeriodType        ValueType
	Period            int64
	Comments          []string
	DocURL            string

	Functions []Function
	Locations []Location
	Mappings  []Mapping

	stacks   columns.Stacks
	values   [][]int64 // one column per sample type
	labelSet []int32   // per row, into labels.sets; nil when no row has labels
	labels   labelTable
}

// NumSamples returns the number of sample rows.
func (p *Profile) NumSamples() int { return len(p.stacks.Spans) }

// Values returns the column of one sample type, one value per sample, without copying. It must not
// be changed. It panics when sampleType is out of range.
func (p *Profile) Values(sampleType int) []int64 { return p.values[sampleType] }

// Stack returns the location indices of a sample's stack, leaf first, without copying. It must not
// be changed.
func (p *Profile) Stack(sample int) []int32 { return p.stacks.Row(sample) }

// StackPages returns the column that contains the stacks, in pages and without copying. It must not
// be changed. It is for callers that hold millions of positions in stacks, for which a slice each
// would be too large; others use Stack.
func (p *Profile) StackPages() [][]int32 { return p.stacks.Pages() }

// StackPlace returns the position of a sample's stack in StackPages: n locations from
// pages[page][off] on, leaf first.
func (p *Profile) StackPlace(sample int) (page, off, n uint32) {
	s := p.stacks.Spans[sample]
	return s.Page, s.Off, s.N
}

// Label is one label of a sample. Num and Unit are valid if Str is empty.
type Label struct {
	Key, Str string
	Num      int64
	Unit     string
}

// Labels returns a sample's labels: those with text by key, then those with numbers by key. It
// returns nil for a sample without labels; otherwise it allocates once. Samples with equal labels
// have equal LabelSet numbers, by which a caller can cache.
func (p *Profile) Labels(sample int) []Label { return p.labels.set(p.LabelSet(sample)) }

// LabelsOf returns the labels of a set, from 0 to NumLabelSets−1, as Labels does.
func (p *Profile) LabelsOf(set int) []Label { return p.labels.set(set) }

// LabelSet returns the number of a sample's label set, from 0 (no labels) to NumLabelSets−1. Two
// samples have the same number if and only if they have the same labels.
func (p *Profile) LabelSet(sample int) int {
	if p.labelSet == nil {
		return 0
	}
	return int(p.labelSet[sample])
}

// NumLabelSets returns the number of label sets, including the empty one.
func (p *Profile) NumLabelSets() int { return max(1, len(p.labels.sets)) }

// SampleIndex returns the index of a sample type, by name ("cpu", "alloc_space"), by number ("2"),
// or by pprof's aliases inuse_space, inuse_objects and total_delay. "" means the profile's default
// (DefaultSampleType, else the last).
func (p *Profile) SampleIndex(name string) (int, error) {
	if len(p.SampleTypes) == 0 {
		return 0, fmt.Errorf("the profile has no sample types")
	}
	if name == "" {
		if i := p.TypeIndex(p.DefaultSampleType); i >= 0 {
			return i, nil
		}
		return len(p.SampleTypes) - 1, nil
	}
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i >= len(p.SampleTypes) {
			return 0, fmt.Errorf("sample index %d is outside 0 to %d", i, len(p.SampleTypes)-1)
		}
		return i, nil
	}
	// Older profiles call the values in use "space" and "objects", and a
	// contention profile calls its total "delay".
	for _, n := range []string{name, strings.TrimPrefix(name, "inuse_"), strings.TrimPrefix(name, "total_")} {
		if i := p.TypeIndex(n); i >= 0 {
			return i, nil
		}
	}
	return 0, fmt.Errorf("sample index %q is none of: %s", name, strings.Join(p.typeNames(), ", "))
}

// TypeIndex returns the index of the sample type with exactly this name, −1 for none.
func (p *Profile) TypeIndex(name string) int {
	for i, t := range p.SampleTypes {
		if t.Type == name {
			return i
		}
	}
	return -1
}

func (p *Profile) typeNames() []string {
	names := make([]string, len(p.SampleTypes))
	for i, t := range p.SampleTypes {
		names[i] = t.Type
	}
	return names
}

// Total returns the sum of the magnitudes of a column, the base of percentages.
func (p *Profile) Total(sampleIndex int) int64 {
	var total int64
	for _, v := range p.values[sampleIndex] {
		total += max(v, -v)
	}
	return total
}
