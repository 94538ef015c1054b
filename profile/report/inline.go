package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/columns"
	"github.com/hone-go/hone/profile/internal/frames"

	"fmt"
	"math/bits"
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
	// inlined has by key what its inlined frames cost at most: a key where that is less than the
	// least weight of a call has no mark. It is nil if unknown.
	inlined []int64
}

// mark sets the Inline field of the rows. kept holds the keys of the rows. Calls that cost less
// than cutoff are ignored. As in pprof, a row's caller is the nearest frame that is a row itself,
// so the mark depends on which rows the table has.
func (m inlineMarks) mark(t *Table, kept []int32, cutoff int64) {
	f := m.frames
	row := t.rowsOf(f, kept)
	inlined := inlinedSomewhere(f, row, kept)
	for i, k := range kept {
		inlined[i] = inlined[i] && (m.inlined == nil || m.inlined[k] >= cutoff)
	}
	if !slices.Contains(inlined, true) {
		return
	}
	rows := len(kept)
	if !t.trimmed(kept) {
		rows += len(f.Keys)
	}
	calls := newInlineCalls(f, newCallWeights(rows), row, inlined)
	m.addTo(calls)
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

// addTo adds the calls of all samples.
func (m inlineMarks) addTo(calls *inlineCalls) {
	var picked []int32
	for i := range (len(m.values) + 63) / 64 {
		rows := ^uint64(0)
		if m.rows != nil {
			rows = m.rows.Word(i)
		}
		for ; rows != 0; rows &= rows - 1 {
			at := 64*i + bits.TrailingZeros64(rows)
			if at >= len(m.values) {
				break
			}
			if m.values[at] == 0 && (m.counts == nil || m.counts[at] == 0) {
				continue
			}
			stack := m.stack(at)
			if len(picked) < len(stack) {
				picked = make([]int32, max(256, 2*len(stack)))
			}
			calls.addSample(stack, picked[:columns.PickIndices(picked, stack, calls.to)], int32(at), m.values[at])
		}
	}
}

// inlineCalls adds up the calls to rows that were inlined at least once.
type inlineCalls struct {
	*callWeights
	frames  *frames.Table
	row     []int32 // by key
	inlined []bool  // by row
	to      []byte  // by location: 1 if it has a frame of such a row
	rowAt   []int32 // by location: the row of its innermost frame that is a row, −1 for none
}

func newInlineCalls(f *frames.Table, w *callWeights, row []int32, inlined []bool) *inlineCalls {
	n := len(f.Start) - 1
	c := &inlineCalls{w, f, row, inlined, make([]byte, n), make([]int32, n)}
	for l := range n {
		c.rowAt[l] = -1
		for at := f.Start[l+1] - 1; at >= f.Start[l]; at-- {
			if r := row[f.List[at]]; r >= 0 {
				c.rowAt[l] = r
				if inlined[r] {
					c.to[l] = 1
				}
			}
		}
	}
	return c
}

// addSample adds the calls of one sample. picked has the indices of its locations in to.
func (c *inlineCalls) addSample(stack, picked []int32, sample int32, v int64) {
	for j := len(picked) - 1; j >= 0; j-- {
		i := picked[j]
		caller := int32(-1)
		for _, l := range stack[i+1:] {
			if caller = c.rowAt[l]; caller >= 0 {
				break
			}
		}
		l := stack[i]
		first, last := c.frames.Start[l], c.frames.Start[l+1]-1
		if first == last { // most have one frame
			if r := c.rowAt[l]; caller >= 0 && caller != r {
				c.add(rowCall{caller, r}, sample, v, true)
			}
			continue
		}
		for at := last; at >= first; at-- {
			r := c.row[c.frames.List[at]]
			if r < 0 {
				continue
			}
			if c.inlined[r] && caller >= 0 && caller != r {
				c.add(rowCall{caller, r}, sample, v, at == last)
			}
			caller = r
		}
	}
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
