package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/measure"

	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Order is what a report's rows are sorted by, the largest magnitude first.
type Order int

const (
	ByFlat Order = iota // then by name, then by cum
	ByCum               // then by name, then by flat
)

// TopOptions says what Top computes. The zero value is pprof's `-top` with `-nodefraction=0` on the
// default sample type.
type TopOptions struct {
	SampleIndex int // column; see Profile.SampleIndex
	Granularity profile.Granularity
	Order       Order
	Filter      profile.Filter     // selects rows and frames; the total remains that of the whole profile
	Selection   *profile.Selection // what filters of the profile keep, instead of Filter; nil for none
	Cache       *Cache             // what earlier reports of the profile computed; nil for none

	// Rows whose |cum| is below this share (0 to 1) of the sum of all flat
	// values are dropped. pprof's default is 0.005.
	MinShare float64
	Limit    int // most rows to return; 0 for all

	Total int64 // base of percentages; 0 for the sum of all samples' magnitudes

	Columns      bool // lines are distinguished by column
	Mean         bool // a row's values are divided by its sums of column 0; order and MinShare use the sums
	DropNegative bool // drop rows whose flat is negative, or whose flat is 0 and cum negative
	// Inline asks for Row.Inline. It costs a second pass over the stacks if a row's function was
	// inlined anywhere.
	Inline bool
	// EdgeShare is pprof's edgefraction: callers that contribute less than this share (0 to 1) of
	// the sum of all flat values to a row do not count for Row.Inline.
	EdgeShare float64
}

// Row is one entry of a Table: a function, a file or a line, by Granularity.
type Row struct {
	Name string // function as the profile names it; "[file of the mapping]" or "<unknown>" without a symbol
	File string // "" unless the granularity has files
	Line int64  // 0 unless the granularity has lines
	// Column and Address are 0 if the granularity or the profile does not have them.
	Column  int64
	Address uint64
	Inline  Inline
	Flat    int64 // sum over the samples whose leaf is this row, in the sample type's unit
	Cum     int64 // sum over the samples whose stack contains this row, each sample once
}

// Table is a profile's value by function, file or line.
type Table struct {
	SampleType profile.ValueType
	Rows       []Row // rows whose values are all zero are left out
	Total      int64 // sum of the magnitudes of all samples' values: the base of percentages
	Flat       int64 // sum of the flat values of Rows
	Nodes      int   // number of rows before Limit was applied
	Dropped    int   // number of rows below MinShare
	Cutoff     int64 // rows with less |cum| were dropped
}

// Top sums one value, flat and cum. It reads the stacks and one column, not the labels.
func Top(p *profile.Profile, o TopOptions) (*Table, error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, fmt.Errorf("top: %w", err)
	}
	t := &Table{SampleType: p.SampleTypes[o.SampleIndex], Total: o.Total}
	if t.Total == 0 {
		t.Total = p.Total(o.SampleIndex)
	}
	var c collector
	var marks inlineMarks
	if o.Cache != nil && o.Cache.p == p {
		o.Cache.mu.Lock()
		defer o.Cache.mu.Unlock()
		c, marks = fromCache(p, o)
	} else {
		view := p
		if o.Selection != nil {
			view = o.Selection.Profile()
		} else {
			view = p.Filter(o.Filter)
		}
		f := frames.By(view, o.Granularity, o.Columns)
		marks = inlineMarks{p: view, frames: f, stack: view.Stack, values: view.Values(o.SampleIndex)}
		c = collector{keys: f.Keys, sums: f.Sum(view, view.Values(o.SampleIndex))}
		if o.Mean {
			marks.counts = view.Values(0)
			c.counts = f.Sum(view, marks.counts)
		}
	}
	kept, flat := t.collect(c, o)
	if o.Inline {
		marks.mark(t, kept, abs(int64(float64(flat)*o.EdgeShare)))
	}
	return t, nil
}

// fromCache sums by key with what earlier reports computed.
func fromCache(p *profile.Profile, o TopOptions) (c collector, marks inlineMarks) {
	f := FlameOptions{SampleIndex: o.SampleIndex, Filter: o.Filter, Selection: o.Selection, Granularity: o.Granularity, Columns: o.Columns}
	s := newSource(p, o.Cache, f)
	s.finish()
	c = collector{keys: s.frames.Keys, sums: s.sums}
	marks = inlineMarks{p: s.p, frames: s.frames, rows: s.rows, stack: s.rest, values: s.values, inlined: s.costs.Inlined()}
	if o.Mean {
		marks.inlined = nil
		f.SampleIndex = 0
		counts := newSource(p, o.Cache, f)
		counts.finish()
		c.counts, marks.counts = counts.sums, counts.values
	}
	return c, marks
}

// collector holds what rows are built from: the sums of each key and, with TopOptions.Mean, the
// counts to divide them by.
type collector struct {
	keys         []profile.Frame
	sums, counts []frames.Sum
}

// collect builds the rows. It returns the indices of their keys, and the sum of all flat values,
// which is the base of the shares in the options.
func (t *Table) collect(c collector, o TopOptions) (kept []int32, flat int64) {
	for i, s := range c.sums {
		if s.Flat == 0 && s.Cum == 0 || o.DropNegative && (s.Flat < 0 || s.Flat == 0 && s.Cum < 0) {
			continue
		}
		flat += s.Flat
		kept = append(kept, int32(i))
	}
	if t.Cutoff = abs(int64(float64(flat) * o.MinShare)); t.Cutoff > 0 {
		all := len(kept)
		kept = slices.DeleteFunc(kept, func(i int32) bool { return abs(c.sums[i].Cum) < t.Cutoff })
		t.Dropped = all - len(kept)
	}
	t.Nodes = len(kept)
	kept = first(kept, o.Limit, func(a, b int32) int { return c.compare(o.Order, a, b) })
	t.Rows = slices.Grow(t.Rows, len(kept))
	for _, i := range kept {
		r := c.row(i)
		if c.counts != nil {
			r.Flat, r.Cum = quotient(r.Flat, c.counts[i].Flat), quotient(r.Cum, c.counts[i].Cum)
		}
		t.Flat += r.Flat
		t.Rows = append(t.Rows, r)
	}
	return kept, flat
}

// first sorts a slice, and returns its first n elements; all if n is 0.
func first[T any](all []T, n int, compare func(a, b T) int) []T {
	if n <= 0 {
		slices.SortFunc(all, compare)
		return all
	}
	best, full := all[:0], false // full: best[n-1] is the last of the first n so far
	for _, x := range all {
		if full && compare(x, best[n-1]) >= 0 {
			continue
		}
		if best = append(best, x); len(best) == 2*n {
			slices.SortFunc(best, compare)
			best, full = best[:n], true
		}
	}
	slices.SortFunc(best, compare)
	return best[:min(n, len(best))]
}

// compare is Order.compare of the rows of two keys. Few comparisons need their names.
func (c *collector) compare(o Order, a, b int32) int {
	x, y := abs(c.sums[a].Flat), abs(c.sums[b].Flat)
	if o == ByCum {
		x, y = abs(c.sums[a].Cum), abs(c.sums[b].Cum)
	}
	if x != y {
		return cmp.Compare(y, x)
	}
	return o.compare(c.row(a), c.row(b))
}

func (c *collector) row(i int32) Row {
	r, s := rowOf(&c.keys[i]), &c.sums[i]
	r.Flat, r.Cum = s.Flat, s.Cum
	return r
}

// rowOf returns the row of a key, with its costs not set.
func rowOf(k *profile.Frame) Row {
	return Row{Name: k.Name, File: k.File, Line: k.Line, Column: k.Column, Address: k.Address}
}

// quotient returns v divided by count, or v if count is 0.
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

// compareNames orders rows as their String does; addresses all have the same length. It builds the
// strings only where one name is a prefix of the other, because then the text after the name
// decides.
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

// goesOn reports whether one text is a prefix of the other.
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

// Unit returns the one unit to print all rows of a table in, as pprof's -unit=minimum chooses it:
// the one that fits the smallest row, or a larger one if the total is more than a hundred times
// that.
func (t *Table) Unit() string {
	least := t.Smallest()
	if least == 0 {
		least = t.Total
	}
	return measure.Common(least, t.Total, t.SampleType.Unit)
}

// Smallest returns the smallest magnitude other than zero of any row: of flat,
// or of cum where flat is zero. It is 0 when there is none.
func (t *Table) Smallest() int64 {
	var least int64
	for _, r := range t.Rows {
		v := abs(r.Flat)
		if v == 0 {
			v = abs(r.Cum)
		}
		if v > 0 && (least == 0 || v < least) {
			least = v
		}
	}
	return least
}
