package profile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Granularity is what a row of a report stands for.
type Granularity int

// The granularities that pprof calls functions, filefunctions, files, lines and
// addresses. A file is one row here; pprof has a row for each of its functions.
const (
	ByFunction Granularity = iota
	ByFileFunction
	ByFile
	ByLine
	ByAddress // with function, file, line and column
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

	Columns      bool // lines are distinguished by column
	Mean         bool // a row's values are divided by its sums of column 0; order and MinShare heed the sums
	DropNegative bool // drop rows with less than nothing flat, or cum without flat
	// Inline asks for Row.Inline. It costs a second pass over the stacks where
	// a row's function was inlined somewhere.
	Inline bool
	// EdgeShare is pprof's edgefraction: callers from whom a row has less than
	// this share of the sum of all flat values do not count for Row.Inline.
	EdgeShare float64
}

// Row is one entry of a Top: a function, a file or a line, by Granularity.
type Row struct {
	Name string // function as the profile names it; "[file of the mapping]" or "<unknown>" without a symbol
	File string // "" unless the granularity has files
	Line int64  // 0 unless the granularity has lines
	// Column and Address are 0 unless the granularity has them, and where the profile says none.
	Column  int64
	Address uint64
	Inline  Inline
	Flat    int64 // sum over the samples whose leaf it is, in the sample type's unit
	Cum     int64 // sum over the samples whose stack has it, once for each sample
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
	f := framesBy(view, o.Granularity, o.Columns)
	c := collector{keys: f.keys, sums: f.sum(view, o.SampleIndex)}
	if o.Mean {
		c.counts = f.sum(view, 0)
	}
	kept, flat := t.collect(c, o)
	if o.Inline {
		t.markInline(view, f, kept, abs(int64(float64(flat)*o.EdgeShare)), o)
	}
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
	f, baseFrames := framesBy(view, o.Granularity, o.Columns), framesBy(baseView, o.Granularity, o.Columns)
	sums := f.sum(view, o.SampleIndex)
	for i, s := range baseFrames.sum(baseView, o.SampleIndex) {
		k := int(f.number(baseFrames.keys[i]))
		if k == len(sums) {
			sums = append(sums, frameSum{})
		}
		sums[k].flat -= s.flat
		sums[k].cum -= s.cum
	}
	t.collect(collector{keys: f.keys, sums: sums}, o)
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

// collector holds what rows are made of: a sum for each key, and with
// TopOptions.Mean the count to divide it by.
type collector struct {
	keys         []frameKey
	sums, counts []frameSum
}

// collect makes the rows. It returns their keys' numbers, and the sum of all
// flat values that the shares in the options are of.
func (t *Top) collect(c collector, o TopOptions) (kept []int32, flat int64) {
	for i, s := range c.sums {
		if s.flat == 0 && s.cum == 0 || o.DropNegative && (s.flat < 0 || s.flat == 0 && s.cum < 0) {
			continue
		}
		flat += s.flat
		kept = append(kept, int32(i))
	}
	if t.Cutoff = abs(int64(float64(flat) * o.MinShare)); t.Cutoff > 0 {
		all := len(kept)
		kept = slices.DeleteFunc(kept, func(i int32) bool { return abs(c.sums[i].cum) < t.Cutoff })
		t.Dropped = all - len(kept)
	}
	t.Nodes = len(kept)
	slices.SortFunc(kept, func(a, b int32) int { return o.Order.compare(c.row(a), c.row(b)) })
	if o.Limit > 0 && len(kept) > o.Limit {
		kept = kept[:o.Limit]
	}
	t.Rows = slices.Grow(t.Rows, len(kept))
	for _, i := range kept {
		r := c.row(i)
		if c.counts != nil {
			r.Flat, r.Cum = quotient(r.Flat, c.counts[i].flat), quotient(r.Cum, c.counts[i].cum)
		}
		t.Flat += r.Flat
		t.Rows = append(t.Rows, r)
	}
	return kept, flat
}

func (c *collector) row(i int32) Row {
	k, s := &c.keys[i], &c.sums[i]
	return Row{Name: k.name, File: k.file, Line: k.line, Column: k.column, Address: k.address, Flat: s.flat, Cum: s.cum}
}

// quotient is v for each of count; v itself when nothing was counted.
func quotient(v, count int64) int64 {
	if count == 0 {
		return v
	}
	return v / count
}

func (o Order) compare(a, b Row) int {
	first, last := cmp.Compare(abs(b.Flat), abs(a.Flat)), cmp.Compare(abs(b.Cum), abs(a.Cum))
	if o == ByCum {
		first, last = last, first
	}
	return cmp.Or(first, compareNames(a, b), last)
}

// compareNames orders rows as their String does; addresses are of one length. It makes the strings
// only where one name goes on where the other ends, and what follows decides.
func compareNames(a, b Row) int {
	switch {
	case a.Address != 0 && b.Address != 0 && a.Address != b.Address:
		return cmp.Compare(a.Address, b.Address)
	case a.Address != b.Address || a.Column != 0 || b.Column != 0:
	case a.Name != b.Name && !goesOn(a.Name, b.Name):
		return cmp.Compare(a.Name, b.Name)
	case a.Name != b.Name:
	case a.File != b.File && !goesOn(a.File, b.File):
		return cmp.Compare(a.File, b.File)
	case a.File == b.File && a.Line > 0 && b.Line > 0:
		return compareDigits(a.Line, b.Line)
	}
	return cmp.Compare(a.String(), b.String())
}

// goesOn reports whether one text begins with the other.
func goesOn(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

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
	case ByLine, ByAddress:
		k.line = line
	}
	return k
}
