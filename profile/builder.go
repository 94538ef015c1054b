package profile

import "fmt"

// FrameSpec describes one frame for a Builder.
type FrameSpec struct {
	Function  string
	File      string
	Line      int64
	StartLine int64 // of the function; 0 when not known
	// Inlined says that this call was inlined into its caller, the next frame in the stack.
	Inlined bool
	// Address is 0 when unknown. A frame with neither function nor file is an address without a
	// known symbol.
	Address uint64
	Binary  string // file of the frame's mapping; "" for the one that Builder.Binary set
}

// Builder makes a profile from stacks. It is meant for tests and for sources
// that are not pprof files. The zero Builder is not ready; use NewBuilder.
type Builder struct {
	p      *Profile
	tables *tables
	labels *labelInterner
	binary int32
	lines  []Line
	err    error
}

// NewBuilder returns a Builder for samples with these values.
func NewBuilder(types ...ValueType) *Builder {
	p := &Profile{SampleTypes: types, values: make([][]int64, len(types))}
	return &Builder{p: p, tables: newTables(p), labels: newLabelInterner(), binary: -1}
}

// Binary sets the program, with its build ID, that the frames added afterwards belong to.
func (b *Builder) Binary(file, buildID string) {
	b.binary = b.tables.mapping(Mapping{
		Start: 0x400000, Limit: 0x40000000, File: file, BuildID: buildID,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInline: true,
	})
}

// Add adds a sample: its stack, leaf first, and a value for each sample type.
func (b *Builder) Add(stack []FrameSpec, values ...int64) { b.AddLabeled(stack, nil, values...) }

// AddLabeled is Add with labels.
func (b *Builder) AddLabeled(stack []FrameSpec, labels []Label, values ...int64) {
	p := b.p
	if len(values) != len(p.SampleTypes) {
		b.fail("sample %d has %d values, the profile has %d sample types", p.NumSamples(), len(values), len(p.SampleTypes))
		return
	}
	room := p.stacks.Reserve(len(stack))
	n := 0
	b.lines = b.lines[:0]
	for i, f := range stack {
		if f.Inlined && i == len(stack)-1 {
			b.fail("sample %d: the root frame %s cannot be inlined", p.NumSamples(), f.Function)
			return
		}
		if f.Function != "" || f.File != "" || f.Address == 0 {
			fn := b.tables.function(Function{Name: f.Function, SystemName: f.Function, Filename: f.File, StartLine: f.StartLine})
			b.lines = append(b.lines, Line{Func: fn, Line: f.Line})
		}
		if !f.Inlined {
			room[n] = b.tables.location(Location{Address: f.Address, Mapping: b.mapping(f.Binary), Lines: b.lines})
			b.lines = b.lines[:0]
			n++
		}
	}
	p.stacks.Commit(n)
	p.labelSet = append(p.labelSet, b.labels.addLabels(labels))
	for i, v := range values {
		p.values[i] = append(p.values[i], v)
	}
}

// AddType adds a sample type, for which the samples so far have the value 0, and returns its index.
func (b *Builder) AddType(t ValueType) int {
	p := b.p
	p.SampleTypes = append(p.SampleTypes, t)
	p.values = append(p.values, make([]int64, p.NumSamples()))
	return len(p.SampleTypes) - 1
}

// mapping returns the mapping of a frame.
func (b *Builder) mapping(file string) int32 {
	if file == "" {
		return b.binary
	}
	return b.tables.mapping(Mapping{File: file, HasFunctions: true})
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("build profile: "+format, args...)
	}
}

// Profile returns the profile, or the first error of the previous calls. The caller may fill in its
// header. The Builder cannot be used afterwards.
func (b *Builder) Profile() (*Profile, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.p.labels = b.labels.table; len(b.p.labels.sets) == 1 {
		b.p.labelSet = nil
	}
	return b.p, nil
}
