package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"

	"math/bits"
	"regexp"
)

// Filter selects samples and frames with pprof's options of these names, applied in the order of
// the fields. A nil field has no effect. An expression matches a location if it matches the name or
// file of one of its functions, or its mapping's file; PruneFrom matches only names, without their
// arguments.
type Filter struct {
	Focus     *regexp.Regexp // keep samples with a matching location
	Ignore    *regexp.Regexp // drop samples with a matching location
	Hide      *regexp.Regexp // drop matching frames
	Show      *regexp.Regexp // drop frames that do not match
	ShowFrom  *regexp.Regexp // drop the callers of the outermost matching frame, and stacks without one
	TagFocus  *TagFilter     // keep samples whose labels match
	TagIgnore *TagFilter     // drop samples whose labels match
	TagShow   *regexp.Regexp // drop labels whose key does not match
	TagHide   *regexp.Regexp // drop labels whose key matches
	PruneFrom *regexp.Regexp // drop what the innermost matching frame calls
}

// Filter returns the filtered profile, or p itself for an empty Filter. As in pprof, every filter
// of frames except PruneFrom drops samples without frames.
func (p *Profile) Filter(f Filter) *Profile {
	q, _ := f.Apply(p)
	return q
}

// Apply returns the result of [Profile.Filter], and the pprof names of the filters that matched
// nothing, for example because of a typing error.
func (f Filter) Apply(p *Profile) (q *Profile, unmatched []string) {
	q = p
	step := func(option string, given bool, apply func() (*Profile, bool)) {
		if !given {
			return
		}
		matched := false
		if q, matched = apply(); !matched {
			unmatched = append(unmatched, option)
		}
	}
	tag := func(t *TagFilter, keep bool) func() (*Profile, bool) {
		// The units are those of the whole profile, including keys that other filters drop.
		return func() (*Profile, bool) { return q.keepTagged(t, keep, p.LabelUnits()) }
	}
	if f.Focus != nil || f.Ignore != nil || f.Hide != nil || f.Show != nil {
		var s *Selection
		s, unmatched = p.selectNames(f)
		q = s.Profile()
	}
	step("show_from", f.ShowFrom != nil, func() (*Profile, bool) { return q.showFrom(f.ShowFrom) })
	step("tagfocus", f.TagFocus != nil, tag(f.TagFocus, true))
	step("tagignore", f.TagIgnore != nil, tag(f.TagIgnore, false))
	step("tagshow", f.TagShow != nil, func() (*Profile, bool) { return q.keepTags(f.TagShow, true) })
	step("taghide", f.TagHide != nil, func() (*Profile, bool) { return q.keepTags(f.TagHide, false) })
	step("prune_from", f.PruneFrom != nil, func() (*Profile, bool) { return q.pruneFrom(f.PruneFrom) })
	return q, unmatched
}

// Rows is a set of a profile's sample rows, one bit per row.
type Rows struct{ bits []uint64 }

func newRows(n int) Rows { return Rows{make([]uint64, (n+63)/64)} }

func (r Rows) add(row int) { r.bits[row/64] |= 1 << (row % 64) }

// Len returns the number of rows in the set.
func (r Rows) Len() int {
	has := 0
	for _, b := range r.bits {
		has += bits.OnesCount64(b)
	}
	return has
}

// Has reports whether a row is in the set.
func (r Rows) Has(row int) bool { return r.bits[row/64]>>(row%64)&1 != 0 }

// Select returns v if a row is in the set, otherwise 0. It has no branch, because processors do not
// predict which rows a filter keeps.
func (r Rows) Select(row int, v int64) int64 { return v & -int64(r.bits[row/64]>>(row%64)&1) }

// IsZero reports whether r is the zero value, which is not a set of the rows of a profile.
func (r Rows) IsZero() bool { return r.bits == nil }

// Word returns the rows from 64i to 64i+63, one bit each.
func (r Rows) Word(i int) uint64 { return r.bits[i] }

func (r Rows) intersect(s Rows) {
	for i := range r.bits {
		r.bits[i] &= s.bits[i]
	}
}

// locationsWhere returns the set of the locations that are wanted.
func (p *Profile) locationsWhere(wanted func(*Location) bool) (set columns.Set, any bool) {
	set = columns.NewSet(len(p.Locations))
	for i := range p.Locations {
		if wanted(&p.Locations[i]) {
			set.Add(int32(i))
			any = true
		}
	}
	return set, any
}

// rowsWith returns the rows with a location of a set.
func (p *Profile) rowsWith(set columns.Set) Rows {
	rows, runs := newRows(p.NumSamples()), new(columns.Runs)
	for i := range rows.bits {
		rows.bits[i] = p.wordWith(runs, set, i)
	}
	return rows
}

// wordWith returns those of the rows from 64i to 64i+63 that have a location of a set.
func (p *Profile) wordWith(runs *columns.Runs, set columns.Set, i int) uint64 {
	return runs.With(&p.stacks, set, 64*i, min(64, p.NumSamples()-64*i))
}

// Keep returns a profile with only these rows. It shares stacks and tables with p.
func (p *Profile) Keep(rows Rows) *Profile {
	q := *p
	if n := rows.Len(); n != p.NumSamples() {
		q.stacks.Spans = keepRows(make([]columns.Span, 0, n), p.stacks.Spans, rows)
		q.keepColumns(rows, n)
	}
	return &q
}

// keepOwn is Keep for a profile whose spans belong to the caller, and may be changed.
func (p *Profile) keepOwn(rows Rows) *Profile {
	if n := rows.Len(); n != p.NumSamples() {
		p.stacks.Spans = keepRows(p.stacks.Spans[:0], p.stacks.Spans, rows)
		p.keepColumns(rows, n)
	}
	return p
}

// keepColumns replaces the columns by those with the n rows only.
func (p *Profile) keepColumns(rows Rows, n int) {
	if p.labelSet != nil {
		p.labelSet = keepRows(make([]int32, 0, n), p.labelSet, rows)
	}
	all := p.values
	p.values = make([][]int64, len(all))
	for i, column := range all {
		p.values[i] = keepRows(make([]int64, 0, n), column, rows)
	}
}

// keepRows appends the rows of a column to out, which may be its own memory.
func keepRows[T any](out, column []T, rows Rows) []T {
	for row, v := range column {
		if rows.Has(row) {
			out = append(out, v)
		}
	}
	return out
}

// withoutLocations drops locations from all stacks, and samples that have none left. Stacks that
// lose nothing, or only their ends, are not copied.
func (p *Profile) withoutLocations(gone []byte) *Profile {
	q := *p
	q.stacks = p.stacks.Extensible(0)
	rows := newRows(p.NumSamples())
	for row := range p.NumSamples() {
		stack := p.stacks.Row(row)
		if len(stack) > 0 && !columns.ContainsAny(stack, gone) {
			rows.add(row)
			continue
		}
		from, to := 0, len(stack)
		for from < to && gone[stack[from]] != 0 {
			from++
		}
		for from < to && gone[stack[to-1]] != 0 {
			to--
		}
		if from == to {
			continue
		}
		rows.add(row)
		span := &q.stacks.Spans[row]
		span.Off, span.N = span.Off+uint32(from), uint32(to-from)
		stack = stack[from:to]
		if !columns.ContainsAny(stack, gone) {
			continue
		}
		room := q.stacks.Reserve(len(stack))
		n := 0
		for _, l := range stack {
			if gone[l] == 0 {
				room[n] = l
				n++
			}
		}
		q.stacks.Move(row, n)
	}
	return q.keepOwn(rows)
}
