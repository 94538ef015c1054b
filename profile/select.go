package profile

import (
	"math/bits"
	"regexp"
	"slices"

	"github.com/hone-go/hone/profile/internal/columns"
)

// Selection is the rows and frames of a profile that Focus, Ignore, Hide, Show, TagFocus and
// TagIgnore keep, or ShowFrom without Hide and Show. A report that uses it can leave the stacks as
// they are, except for ShowFrom.
type Selection struct {
	p          *Profile
	rows       Rows        // zero until they are known
	focus      columns.Set // the locations that Focus matches; nil without Focus
	ignore     columns.Set // the locations that Ignore matches; nil without Ignore
	hide, show *matcher
	showFrom   *matcher
	from       columns.Set // the locations that ShowFrom matches
	runs       columns.Runs
}

// Rows returns the selected rows, with those of whose frames none remain; see Visit.
func (s *Selection) Rows() Rows {
	s.Visit(func(int, uint64) {})
	return s.rows
}

// Visit calls visit with the selected rows, as Rows.Word returns them. The first call of Visit or
// Rows reads all stacks: then those of the 64 rows are in the processor's caches, and visit can sum
// them in less time than later. It is not safe for concurrent use.
func (s *Selection) Visit(visit func(i int, word uint64)) {
	if !s.rows.IsZero() {
		for i, word := range s.rows.bits {
			visit(i, word)
		}
		return
	}
	rows := newRows(s.p.NumSamples())
	for i := range rows.bits {
		rows.bits[i] = s.word(i)
		visit(i, rows.bits[i])
	}
	s.rows = rows
}

// KeepsMost reports whether more than half of the rows are selected. If they are not known yet, it
// examines only some.
func (s *Selection) KeepsMost() bool {
	if !s.rows.IsZero() {
		return 2*s.rows.Len() > s.p.NumSamples()
	}
	const step = 64
	kept, all := 0, 0
	for i := 0; 64*i < s.p.NumSamples(); i += step {
		kept += bits.OnesCount64(s.word(i))
		all += min(64, s.p.NumSamples()-64*i)
	}
	return 2*kept > all
}

// word returns the rows from 64i to 64i+63 that Focus and Ignore keep.
func (s *Selection) word(i int) (word uint64) {
	if s.focus != nil {
		word = s.p.wordWith(&s.runs, s.focus, i)
	} else {
		for j := range s.p.stacks.Spans[64*i : min(64*(i+1), s.p.NumSamples())] {
			word |= uint64(min(1, s.p.stacks.Spans[64*i+j].N)) << j
		}
	}
	if s.ignore != nil {
		word &^= s.p.wordWith(&s.runs, s.ignore, i)
	}
	return word
}

// Select returns what the filter keeps, and as Apply does the filters that matched nothing. It
// returns nil if f has filters that a Selection does not have, or none.
func (f Filter) Select(p *Profile) (s *Selection, unmatched []string) {
	rest := f
	rest.Focus, rest.Ignore, rest.Hide, rest.Show, rest.ShowFrom, rest.TagFocus, rest.TagIgnore = nil, nil, nil, nil, nil, nil, nil
	if rest != (Filter{}) || f == (Filter{}) || f.ShowFrom != nil && (f.Hide != nil || f.Show != nil) {
		return nil, nil
	}
	if f.Focus != nil || f.Ignore != nil || f.Hide != nil || f.Show != nil {
		s, unmatched = p.selectNames(f)
	} else { // these filters keep samples without frames
		s = &Selection{p: p, rows: p.RowsWhere(func(int) bool { return true })}
	}
	if f.ShowFrom != nil {
		s.showFrom = p.newMatcher(f.ShowFrom)
		matched := false
		if s.from, matched = p.locationsWhere(s.showFrom.location); !matched {
			unmatched = append(unmatched, "show_from")
			s.rows = newRows(p.NumSamples())
		} else if f.TagFocus != nil || f.TagIgnore != nil { // these match only what it keeps
			s.Rows().intersect(p.rowsWith(s.from))
		}
	}
	if f.TagFocus != nil && !s.keepTagged(f.TagFocus, true) {
		unmatched = append(unmatched, "tagfocus")
	}
	if f.TagIgnore != nil && !s.keepTagged(f.TagIgnore, false) {
		unmatched = append(unmatched, "tagignore")
	}
	return s, unmatched
}

// keepTagged keeps the rows whose labels match, or those whose labels do not. It reports whether
// any row matched that has frames left.
func (s *Selection) keepTagged(f *TagFilter, keep bool) (matched bool) {
	match := s.p.setsThatMatch(f, s.p.LabelUnits())
	hasFrames, rows := s.hasFrames(), s.Rows()
	s.rows = s.p.RowsWhere(func(row int) bool {
		if !rows.Has(row) {
			return false
		}
		m := match[s.p.LabelSet(row)]
		matched = matched || m && hasFrames(row)
		return m == keep
	})
	return matched
}

// hasFrames returns a function that reports whether a row has frames that are not hidden.
func (s *Selection) hasFrames() func(row int) bool {
	hidden := s.Hidden()
	if hidden == nil {
		return func(int) bool { return true }
	}
	shown := make([]bool, len(s.p.Locations))
	for i := range shown {
		n := max(1, len(s.p.Locations[i].Lines))
		shown[i], hidden = slices.Contains(hidden[:n], false), hidden[n:]
	}
	return func(row int) bool {
		return slices.ContainsFunc(s.p.Stack(row), func(l int32) bool { return shown[l] })
	}
}

// selectNames returns what Focus, Ignore, Hide and Show keep.
func (p *Profile) selectNames(f Filter) (s *Selection, unmatched []string) {
	match := func(option string, re *regexp.Regexp) *matcher {
		if re == nil {
			return nil
		}
		m := p.newMatcher(re)
		if !m.any() {
			unmatched = append(unmatched, option)
		}
		return m
	}
	focus, ignore := match("focus", f.Focus), match("ignore", f.Ignore)
	s = &Selection{p: p, hide: match("hide", f.Hide), show: match("show", f.Show)}
	if focus != nil {
		s.focus, _ = p.locationsWhere(focus.location)
	}
	if ignore != nil {
		s.ignore, _ = p.locationsWhere(ignore.location)
	}
	if focus == nil && ignore == nil {
		s.rows = p.RowsWhere(func(row int) bool { return p.stacks.Spans[row].N > 0 })
	}
	return s, unmatched
}

// Hidden reports which frames are hidden: of each location all frames, leaf first. A location
// without lines, which is an unknown function, has one frame. It returns nil if no frame is hidden.
func (s *Selection) Hidden() []bool {
	if s.hide == nil && s.show == nil {
		return nil
	}
	hidden := make([]bool, 0, len(s.p.Locations)+len(s.p.Locations)/4)
	any := false
	for i := range s.p.Locations {
		l := &s.p.Locations[i]
		if len(l.Lines) == 0 {
			hidden = append(hidden, s.show != nil || s.hide != nil && s.hide.mapping(l.Mapping))
			any = any || hidden[len(hidden)-1]
		}
		for _, ln := range l.Lines {
			drop := s.hide != nil && s.hide.line(l, ln) || s.show != nil && !s.show.line(l, ln)
			hidden = append(hidden, drop)
			any = any || drop
		}
	}
	if !any {
		return nil
	}
	return hidden
}

// Cut returns what ShowFrom keeps: of each stack the callees of its outermost location in from, a
// set with a byte per location, with this location, but without its hidden frames (as Hidden
// returns them). It keeps nothing of other stacks. from is nil without ShowFrom.
func (s *Selection) Cut() (from []byte, hidden []bool) {
	if s.showFrom == nil {
		return nil, nil
	}
	from = make([]byte, len(s.p.Locations))
	hidden = make([]bool, 0, len(s.p.Locations)+len(s.p.Locations)/4)
	any := false
	for i := range s.p.Locations {
		l := &s.p.Locations[i]
		keep := len(l.Lines)
		if from[i] = byte(s.from.Bit(int32(i))); from[i] != 0 {
			keep = s.showFrom.upTo(l)
		}
		for j := range max(1, len(l.Lines)) {
			drop := j >= keep && j > 0
			hidden = append(hidden, drop)
			any = any || drop
		}
	}
	if !any {
		hidden = nil
	}
	return from, hidden
}

// Profile returns the profile with only the selected rows and frames.
func (s *Selection) Profile() *Profile {
	if s.showFrom != nil {
		q, rows, _ := s.p.cutCallers(s.showFrom)
		rows.intersect(s.Rows())
		return q.keepOwn(rows)
	}
	q := s.p.Keep(s.Rows())
	hidden := s.Hidden()
	if hidden == nil {
		return q
	}
	q.Locations = slices.Clone(q.Locations)
	gone := make([]byte, len(q.Locations))
	any := false
	for i := range q.Locations {
		l := &q.Locations[i]
		n := max(1, len(l.Lines))
		if of := hidden[:n]; slices.Contains(of, true) {
			var lines []Line
			for j, ln := range l.Lines {
				if !of[j] {
					lines = append(lines, ln)
				}
			}
			l.Lines = lines
			if len(lines) == 0 {
				gone[i], any = 1, true
			}
		}
		hidden = hidden[n:]
	}
	if any {
		return q.withoutLocations(gone)
	}
	return q
}
