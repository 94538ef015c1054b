package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/columns"
	"github.com/hone-go/hone/profile/internal/frames"

	"fmt"
	"slices"
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
	rowCall
	value int64
	real  bool
	last  int32 // the sample that was added last, plus one: a call counts once per sample
}

// callWeights holds the weights of calls.
type callWeights struct {
	list   []callWeight
	rows   int32
	dense  []int32           // by caller and callee: index in list, plus one
	sparse map[rowCall]int32 // the same, if there are too many pairs
}

// newCallWeights returns no weights, of calls between that many rows.
func newCallWeights(rows int) *callWeights {
	const most = 1 << 18
	w := &callWeights{rows: int32(rows)}
	if rows*rows <= most {
		w.dense = make([]int32, rows*rows)
	} else {
		w.sparse = map[rowCall]int32{}
	}
	return w
}

// add adds a sample with a call.
func (w *callWeights) add(c rowCall, sample int32, v int64, real bool) {
	var i int32
	if w.dense != nil {
		i = w.dense[c.from*w.rows+c.to]
	} else {
		i = w.sparse[c]
	}
	if i == 0 {
		w.list = append(w.list, callWeight{rowCall: c})
		if i = int32(len(w.list)); w.dense != nil {
			w.dense[c.from*w.rows+c.to] = i
		} else {
			w.sparse[c] = i
		}
	}
	if x := &w.list[i-1]; x.last != sample+1 {
		x.last = sample + 1
		x.value += v
		x.real = x.real || real
	}
}

// inlineMarks is what the marks of a table are derived from.
type inlineMarks struct {
	p      *profile.Profile
	frames *frames.Table         // without hidden frames
	rows   *profile.Rows         // of p that filters keep; nil for all
	stack  func(row int) []int32 // what filters keep of a stack
	values []int64               // by row
	counts []int64               // with TopOptions.Mean: those that values are divided by
}

// mark sets the Inline field of the rows. kept holds the keys of the rows. Calls that cost less
// than cutoff are ignored. As in pprof, a row's caller is the nearest frame that is a row itself,
// so the mark depends on which rows the table has.
func (m inlineMarks) mark(t *Table, kept []int32, cutoff int64) {
	f := m.frames
	row := t.rowsOf(f, kept)
	inlined := inlinedSomewhere(f, row, kept)
	if !slices.Contains(inlined, true) {
		return
	}
	is, only := m.rowsAt(row)
	rows := len(kept)
	if !t.trimmed(kept) {
		rows += len(f.Keys)
	}
	calls := newCallWeights(rows)
	var picked []int32
	for at, v := range m.values {
		if v == 0 && (m.counts == nil || m.counts[at] == 0) || m.rows != nil && !m.rows.Has(at) {
			continue
		}
		stack := m.stack(at)
		if len(picked) < len(stack) {
			picked = make([]int32, max(256, 2*len(stack)))
		}
		addCalls(f, calls, picked[:columns.Pick(picked, stack, is)], only, row, inlined, int32(at), v)
	}
	someInline, someReal := make([]bool, len(kept)), make([]bool, len(kept))
	for i := range calls.list {
		if c := &calls.list[i]; abs(c.value) >= cutoff {
			someInline[c.to] = someInline[c.to] || !c.real
			someReal[c.to] = someReal[c.to] || c.real
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

// rowsAt returns which locations have a frame that is a row, 1 if so, and the row of those with
// only one frame. For other locations, only is −1.
func (m inlineMarks) rowsAt(row []int32) (is []byte, only []int32) {
	f := m.frames
	is, only = make([]byte, len(f.Start)-1), make([]int32, len(f.Start)-1)
	for l := range is {
		keys := f.List[f.Start[l]:f.Start[l+1]]
		if only[l] = -1; len(keys) == 1 {
			only[l] = row[keys[0]]
		}
		if slices.ContainsFunc(keys, func(k int32) bool { return row[k] >= 0 }) {
			is[l] = 1
		}
	}
	return is, only
}

// trimmed reports whether rows were dropped.
func (t *Table) trimmed(kept []int32) bool { return t.Dropped > 0 || len(kept) < t.Nodes }

// rowsOf maps keys to row indices, −1 for none. If no row was dropped, keys without a row (zeros,
// and those that DropNegative drops) still count as callers.
func (t *Table) rowsOf(f *frames.Table, kept []int32) []int32 {
	row := make([]int32, len(f.Keys))
	trimmed := t.trimmed(kept)
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

// addCalls adds the calls of one sample to rows that were inlined at least once. The locations of
// its stack all have frames that are rows, see rowsAt.
func addCalls(f *frames.Table, calls *callWeights, stack, only, row []int32, inlined []bool, sample int32, v int64) {
	caller := int32(-1)
	for i := len(stack) - 1; i >= 0; i-- {
		l := stack[i]
		if r := only[l]; r >= 0 { // most have one frame
			if inlined[r] && caller >= 0 && caller != r {
				calls.add(rowCall{caller, r}, sample, v, true)
			}
			caller = r
			continue
		}
		first, last := f.Start[l], f.Start[l+1]-1
		for at := last; at >= first; at-- {
			r := row[f.List[at]]
			if r < 0 {
				continue
			}
			if inlined[r] && caller >= 0 && caller != r {
				calls.add(rowCall{caller, r}, sample, v, at == last)
			}
			caller = r
		}
	}
}
