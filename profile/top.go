package profile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Granularity is what a row of a report stands for.
type Granularity int

// The granularities that pprof calls functions, filefunctions, files and lines.
// A file is one row here; pprof has a row for each of its functions.
const (
	ByFunction Granularity = iota
	ByFileFunction
	ByFile
	ByLine
)

// Order is what a report's rows are sorted by, the largest magnitude first.
type Order int

const (
	ByFlat Order = iota // then by name, then by cum
	ByCum               // then by name, then by flat
)

// TopOptions say what Top computes. The zero value is pprof's `-top` with
// `-nodefraction=0` on the default sample type.
type TopOptions struct {
	SampleIndex int // column; see Profile.SampleIndex
	Granularity Granularity
	Order       Order
	Filter      Filter // rows and frames that count; the total stays the whole profile's

	// Rows whose |cum| is below this share (0 to 1) of the sum of all flat
	// values are dropped. pprof's default is 0.005.
	MinShare float64
	Limit    int // most rows to return; 0 for all

	Total int64 // what percentages are of; 0 for the sum of all samples' magnitudes
}

// Row is one entry of a Top: a function, a file or a line, by Granularity.
type Row struct {
	Name string // function as the profile names it; "[file of the mapping]" or "<unknown>" without a symbol
	File string // "" unless the granularity has files
	Line int64  // 0 unless the granularity has lines
	Flat int64  // sum over the samples whose leaf it is, in the sample type's unit
	Cum  int64  // sum over the samples whose stack has it, once for each sample
}

// Top is a table of what a profile's value was spent on.
type Top struct {
	SampleType ValueType
	Rows       []Row // rows of nothing but zeros are left out
	Total      int64 // sum of the magnitudes of all samples' values: what percentages are of
	Flat       int64 // sum of the flat values of Rows
	Nodes      int   // rows there were before Limit
	Dropped    int   // rows below MinShare
	Cutoff     int64 // |cum| below which a row was dropped
}

// Top sums one value flat and cum. It reads the stacks and one column;
// labels are not looked at.
func (p *Profile) Top(o TopOptions) (*Top, error) {
	if err := p.checkIndex(o.SampleIndex); err != nil {
		return nil, fmt.Errorf("top: %w", err)
	}
	t := &Top{SampleType: p.SampleTypes[o.SampleIndex], Total: o.Total}
	if t.Total == 0 {
		t.Total = p.Total(o.SampleIndex)
	}
	view := p.Filter(o.Filter)
	f := newFrames(view, o.Granularity.key)
	t.collect(f.keys, f.sum(view, o.SampleIndex), o)
	return t, nil
}

// TopDiff sums p − base flat and cum, as the Top of their difference would, but
// without matching a single stack: flat and cum are sums over samples, so the
// difference of the sums is the sum of the differences. Total is base's, as
// with pprof's -diff_base: percentages say by how much of it a row has moved.
func TopDiff(p, base *Profile, o TopOptions) (*Top, error) {
	if err := compatible(p, base); err != nil {
		return nil, fmt.Errorf("top of a difference: %w", err)
	}
	if err := p.checkIndex(o.SampleIndex); err != nil {
		return nil, fmt.Errorf("top of a difference: %w", err)
	}
	t := &Top{SampleType: p.SampleTypes[o.SampleIndex], Total: base.Total(o.SampleIndex)}
	view, baseView := p.Filter(o.Filter), base.Filter(o.Filter)
	f, baseFrames := newFrames(view, o.Granularity.key), newFrames(baseView, o.Granularity.key)
	sums := f.sum(view, o.SampleIndex)
	for i, s := range baseFrames.sum(baseView, o.SampleIndex) {
		k := int(f.number(baseFrames.keys[i]))
		if k == len(sums) {
			sums = append(sums, frameSum{})
		}
		sums[k].flat -= s.flat
		sums[k].cum -= s.cum
	}
	t.collect(f.keys, sums, o)
	return t, nil
}

func (p *Profile) checkIndex(i int) error {
	if i < 0 || i >= len(p.SampleTypes) {
		return fmt.Errorf("sample index %d is outside 0 to %d", i, len(p.SampleTypes)-1)
	}
	return nil
}

// Total returns the sum of the magnitudes of a column, the base of percentages.
func (p *Profile) Total(sampleIndex int) int64 {
	var total int64
	for _, v := range p.values[sampleIndex] {
		total += max(v, -v)
	}
	return total
}

func (t *Top) collect(keys []frameKey, sums []frameSum, o TopOptions) {
	var flat int64
	for i, s := range sums {
		flat += s.flat
		if s.flat != 0 || s.cum != 0 {
			t.Rows = append(t.Rows, Row{Name: keys[i].name, File: keys[i].file, Line: keys[i].line, Flat: s.flat, Cum: s.cum})
		}
	}
	if t.Cutoff = abs(int64(float64(flat) * o.MinShare)); t.Cutoff > 0 {
		all := len(t.Rows)
		t.Rows = slices.DeleteFunc(t.Rows, func(r Row) bool { return abs(r.Cum) < t.Cutoff })
		t.Dropped = all - len(t.Rows)
	}
	t.Nodes = len(t.Rows)
	slices.SortFunc(t.Rows, o.Order.compare)
	if o.Limit > 0 && len(t.Rows) > o.Limit {
		t.Rows = t.Rows[:o.Limit]
	}
	for _, r := range t.Rows {
		t.Flat += r.Flat
	}
}

func (o Order) compare(a, b Row) int {
	first, last := cmp.Compare(abs(b.Flat), abs(a.Flat)), cmp.Compare(abs(b.Cum), abs(a.Cum))
	if o == ByCum {
		first, last = last, first
	}
	return cmp.Or(first, cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), compareDigits(a.Line, b.Line), last)
}

// compareDigits orders line numbers as text: pprof breaks ties by the printed name.
func compareDigits(a, b int64) int {
	if a == b {
		return 0
	}
	var x, y [20]byte
	return bytes.Compare(strconv.AppendInt(x[:0], a, 10), strconv.AppendInt(y[:0], b, 10))
}

func abs[T int64 | float64](v T) T { return max(v, -v) }

func (g Granularity) key(fn *Function, line int64) frameKey {
	k := frameKey{name: fn.Name}
	if g != ByFunction {
		k.file = cleanFile(fn.Filename)
	}
	switch g {
	case ByFile:
		k.name = ""
	case ByLine:
		k.line = line
	}
	return k
}
