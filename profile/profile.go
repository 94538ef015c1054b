package profile

import "io"

// ValueType names a value and its unit, e.g. {"cpu", "nanoseconds"}.
type ValueType struct{ Type, Unit string }

// Function is an entry of the function table.
type Function struct {
	Name, SystemName, Filename string
	StartLine                  int64
}

// Line is one (function, line) of a location; a location has several where
// calls were inlined, the innermost (leaf) first.
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
	DropFrames        string
	KeepFrames        string
	TimeNanos         int64
	DurationNanos     int64
	PeriodType        ValueType
	Period            int64
	Comments          []string
	DocURL            string

	Functions []Function
	Locations []Location
	Mappings  []Mapping
	// columns of the samples are the implementer's choice
}

// Decode reads a gzip'd, zstd or raw pprof profile of at most maxBytes when inflated
// (0 = a generous default). Errors say what is broken and where.
func Decode(r io.Reader, maxBytes int64) (*Profile, error) { panic("contract") }

// NumSamples returns the number of sample rows.
func (p *Profile) NumSamples() int { panic("contract") }

// Values returns the column of one sample type, a row a sample. Not to be changed.
func (p *Profile) Values(sampleType int) []int64 { panic("contract") }

// Stack returns the location indices of a sample's stack, leaf first.
// The slice is buf re-used where it is large enough.
func (p *Profile) Stack(sample int, buf []int32) []int32 { panic("contract") }

// Label is one label of a sample; Num and Unit hold when Str is empty.
type Label struct {
	Key, Str string
	Num      int64
	Unit     string
}

// Labels returns a sample's labels.
func (p *Profile) Labels(sample int) []Label { panic("contract") }

// SampleIndex resolves a sample type by name ("cpu", "alloc_space", "2", pprof's aliases);
// "" gives the profile's default (DefaultSampleType, else the last).
func (p *Profile) SampleIndex(name string) (int, error) { panic("contract") }

// Merge sums profiles of compatible types.
func Merge(ps ...*Profile) (*Profile, error) { panic("contract") }

// Subtract returns p − base, sample by sample (by stack and labels).
func Subtract(p, base *Profile) (*Profile, error) { panic("contract") }

// Encode writes p as gzip'd pprof.
func (p *Profile) Encode(w io.Writer) error { panic("contract") }
