package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/columns"
	"github.com/hone-go/hone/profile/internal/frames"

	"fmt"
	"strings"
)

// Inline says whether the calls to a row's function were inlined.
type Inline int

// The three values, as pprof marks them.
const (
	NotInlined    Inline = iota
	PartlyInlined        // by some of its callers
	AllInlined
)

// String returns the mark that pprof prints after a name, "" for none.
func (i Inline) String() string {
	switch i {
	case PartlyInlined:
		return "(partial-inline)"
	case AllInlined:
		return "(inline)"
	}
	return ""
}

// String returns the row's name as pprof prints it: address, function, file and line, as far as the
// granularity has them, without the mark for inlining.
func (r Row) String() string {
	var words []string
	if r.Address != 0 {
		words = append(words, fmt.Sprintf("%016x", r.Address))
	}
	if r.Name != "" {
		words = append(words, r.Name)
	}
	file := r.File
	if r.Line != 0 {
		file += fmt.Sprintf(":%d", r.Line)
		if r.Column != 0 {
			file += fmt.Sprintf(":%d", r.Column)
		}
	}
	if file != "" {
		words = append(words, file)
	}
	return strings.Join(words, " ")
}

// rowCall is a call between two rows of a Table, by their indices.
type rowCall struct{ from, to int32 }

// callWeight is the cost of the samples with a call, and whether any of the calls was not inlined.
type callWeight struct {
	value int64
	real  bool
}

// inlineMarks is what the marks of a table are derived from.
type inlineMarks struct {
	p      *profile.Profile
	frames *frames.Table // without hidden frames
	rows   *profile.Rows // of p that filters keep; nil for all
	values []int64       // by row
	counts []int64       // with TopOptions.Mean: those that values are divided by
}

// mark sets the Inline field of the rows. kept holds the keys of the rows. Calls that cost less
// than cutoff are ignored. As in pprof, a row's caller is the nearest frame that is a row itself,
// so the mark depends on which rows the table has.
func (m inlineMarks) mark(t *Table, kept []int32, cutoff int64) {
	p, f := m.p, m.frames
	row := t.rowsOf(f, kept)
	inlined := inlinedSomewhere(f, row, kept)
	has := make([]byte, len(p.Locations)) // 1: has a frame of a row that was inlined at least once
	any := byte(0)
	for l := range p.Locations {
		for _, k := range f.List[f.Start[l]:f.Start[l+1]] {
			if r := row[k]; r >= 0 && inlined[r] {
				has[l], any = 1, 1
			}
		}
	}
	if any == 0 {
		return
	}
	calls := map[rowCall]*callWeight{}
	var seen []rowCall
	for at, v := range m.values {
		if v == 0 && (m.counts == nil || m.counts[at] == 0) || m.rows != nil && !m.rows.Has(at) {
			continue
		}
		stack := p.Stack(at)
		if columns.ContainsAny(stack, has) {
			seen = addCalls(f, calls, seen[:0], stack, row, inlined, v)
		}
	}
	someInline, someReal := make([]bool, len(kept)), make([]bool, len(kept))
	for c, w := range calls {
		if abs(w.value) >= cutoff {
			someInline[c.to] = someInline[c.to] || !w.real
			someReal[c.to] = someReal[c.to] || w.real
		}
	}
	for i := range t.Rows {
		switch {
		case someInline[i] && someReal[i]:
			t.Rows[i].Inline = PartlyInlined
		case someInline[i]:
			t.Rows[i].Inline = AllInlined
		}
	}
}

// rowsOf maps keys to row indices, −1 for none. If no row was dropped, keys without a row (zeros,
// and those that DropNegative drops) still count as callers.
func (t *Table) rowsOf(f *frames.Table, kept []int32) []int32 {
	row := make([]int32, len(f.Keys))
	trimmed := t.Dropped > 0 || len(kept) < t.Nodes
	for k := range row {
		if row[k] = int32(len(kept) + k); trimmed {
			row[k] = -1
		}
	}
	for i, k := range kept {
		row[k] = int32(i)
	}
	return row
}

// inlinedSomewhere reports, by row, whether a frame of the row was inlined into another.
func inlinedSomewhere(f *frames.Table, row, kept []int32) []bool {
	inlined := make([]bool, len(kept)+len(f.Keys))
	for l := range len(f.Start) - 1 {
		for at := f.Start[l]; at < f.Start[l+1]-1; at++ {
			if r := row[f.List[at]]; r >= 0 && int(r) < len(kept) {
				inlined[r] = true
			}
		}
	}
	return inlined
}

// addCalls adds the calls of one stack to rows that were inlined at least once, each call once.
// seen is scratch memory for the calls already added.
func addCalls(f *frames.Table, calls map[rowCall]*callWeight, seen []rowCall, stack, row []int32, inlined []bool, v int64) []rowCall {
	caller := int32(-1)
	for i := len(stack) - 1; i >= 0; i-- {
		first, last := f.Start[stack[i]], f.Start[stack[i]+1]-1
	frames:
		for at := last; at >= first; at-- {
			r := row[f.List[at]]
			if r < 0 {
				continue
			}
			c := rowCall{caller, r}
			caller = r
			if c.from < 0 || c.from == r || !inlined[r] {
				continue
			}
			for _, s := range seen {
				if s == c {
					continue frames
				}
			}
			seen = append(seen, c)
			w := calls[c]
			if w == nil {
				w = &callWeight{}
				calls[c] = w
			}
			w.value += v
			w.real = w.real || at == last
		}
	}
	return seen
}
