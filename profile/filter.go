package profile

import (
	"regexp"
	"slices"
)

// Filter selects samples and frames with pprof's options of these names. A nil
// expression does nothing. An expression matches a location if it matches the
// name or file of one of its functions, or its mapping's file.
type Filter struct {
	Focus  *regexp.Regexp // keep samples with a matching location
	Ignore *regexp.Regexp // drop samples with a matching location
	Hide   *regexp.Regexp // drop matching frames
	Show   *regexp.Regexp // drop frames that do not match
}

// Filter returns the profile that is left, p itself for an empty Filter. As in
// pprof, samples without frames are dropped by any filter.
func (p *Profile) Filter(f Filter) *Profile {
	if f == (Filter{}) {
		return p
	}
	keep := p.rowsWhere(func(*Location) bool { return true })
	if f.Focus != nil {
		keep = p.RowsMatching(f.Focus)
	}
	if f.Ignore != nil {
		keep.subtract(p.RowsMatching(f.Ignore))
	}
	q := p.Keep(keep)
	if f.Hide != nil {
		q = q.dropFrames(f.Hide, true)
	}
	if f.Show != nil {
		q = q.dropFrames(f.Show, false)
	}
	return q
}

// Rows is a set of a profile's sample rows, a bit each.
type Rows struct{ bits []uint64 }

func newRows(n int) Rows { return Rows{make([]uint64, (n+63)/64)} }

func (r Rows) add(row int) { r.bits[row/64] |= 1 << (row % 64) }

// Has tells whether a row is in the set.
func (r Rows) Has(row int) bool { return r.bits[row/64]>>(row%64)&1 != 0 }

func (r Rows) subtract(s Rows) {
	for i := range r.bits {
		r.bits[i] &^= s.bits[i]
	}
}

// RowsMatching returns the rows with a location that re matches; see Filter.
func (p *Profile) RowsMatching(re *regexp.Regexp) Rows {
	m := p.newMatcher(re)
	return p.rowsWhere(m.location)
}

// rowsWhere returns the rows with a location that is wanted.
func (p *Profile) rowsWhere(wanted func(*Location) bool) Rows {
	want := make([]bool, len(p.Locations))
	for i := range p.Locations {
		want[i] = wanted(&p.Locations[i])
	}
	rows := newRows(p.NumSamples())
	for row := range p.NumSamples() {
		if slices.ContainsFunc(p.stacks.row(row), func(l int32) bool { return want[l] }) {
			rows.add(row)
		}
	}
	return rows
}

// Keep returns the profile of only these rows. It shares stacks and tables with p.
func (p *Profile) Keep(rows Rows) *Profile {
	q := *p
	q.stacks.spans = keepRows(p.stacks.spans, rows)
	q.labelSet = keepRows(p.labelSet, rows)
	q.values = make([][]int64, len(p.values))
	for i, column := range p.values {
		q.values[i] = keepRows(column, rows)
	}
	return &q
}

func keepRows[T any](column []T, rows Rows) []T {
	if column == nil {
		return nil
	}
	out := make([]T, 0, len(column))
	for row, v := range column {
		if rows.Has(row) {
			out = append(out, v)
		}
	}
	return out
}

// dropFrames drops the frames that match re, or those that do not; samples
// left without frames vanish.
func (p *Profile) dropFrames(re *regexp.Regexp, matching bool) *Profile {
	m := p.newMatcher(re)
	q := *p
	q.Locations = slices.Clone(p.Locations)
	gone := make([]bool, len(p.Locations))
	any := false
	for i := range q.Locations {
		l := &q.Locations[i]
		switch {
		case m.mapping(l.Mapping):
			if matching {
				l.Lines = nil
			}
		case len(l.Lines) > 0:
			l.Lines = slices.DeleteFunc(slices.Clone(l.Lines), func(ln Line) bool { return m.function(ln.Func) == matching })
		}
		// A location without lines is an unknown function: hiding something
		// else leaves it, showing something else does not.
		unknown := len(p.Locations[i].Lines) == 0
		gone[i] = len(l.Lines) == 0 && (!unknown || !matching || m.mapping(l.Mapping))
		any = any || gone[i]
	}
	if any {
		return q.withoutLocations(gone)
	}
	return &q
}

// withoutLocations drops locations from all stacks, and samples left without any.
func (p *Profile) withoutLocations(gone []bool) *Profile {
	q := *p
	q.stacks = stackColumn{}
	rows := newRows(p.NumSamples())
	for row := range p.NumSamples() {
		stack := p.stacks.row(row)
		room := q.stacks.reserve(len(stack))
		n := 0
		for _, l := range stack {
			if !gone[l] {
				room[n] = l
				n++
			}
		}
		if n > 0 {
			rows.add(row)
		}
		q.stacks.commit(n)
	}
	return q.Keep(rows)
}

// matcher caches what an expression says of functions and mappings: a function
// stands in many locations.
type matcher struct {
	p         *Profile
	re        *regexp.Regexp
	functions []bool
	mappings  []bool
}

func (p *Profile) newMatcher(re *regexp.Regexp) *matcher {
	m := &matcher{p: p, re: re, functions: make([]bool, len(p.Functions)), mappings: make([]bool, len(p.Mappings))}
	for i := range p.Functions {
		f := &p.Functions[i]
		m.functions[i] = re.MatchString(f.Name) || re.MatchString(f.Filename)
	}
	for i := range p.Mappings {
		m.mappings[i] = re.MatchString(p.Mappings[i].File)
	}
	return m
}

func (m *matcher) function(f int32) bool { return m.functions[f] }

func (m *matcher) mapping(i int32) bool { return i >= 0 && m.mappings[i] }

func (m *matcher) location(l *Location) bool {
	return m.mapping(l.Mapping) || slices.ContainsFunc(l.Lines, func(ln Line) bool { return m.functions[ln.Func] })
}
