package profile

import (
	"fmt"
	"github.com/hone-go/hone/profile/measure"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// TagFilter is a condition on a sample's labels, in the syntax of pprof's tagfocus and tagignore;
// see ParseTagFilter.
type TagFilter struct {
	text   string           // the text that was parsed
	key    string           // "" for any
	within *tagRange        // for numbers, else nil
	texts  []*regexp.Regexp // for texts
}

// tagRange is an interval of numbers with a unit, including both ends.
type tagRange struct {
	low, high       float64
	hasLow, hasHigh bool
	unit            string
}

// ParseTagFilter reads a condition on labels:
//
//	32kb, 1kb:, :64kb, 1kb:64mb   a number in the range, including both ends
//	memory=1kb:                   the same, only for the label memory
//	GET,v1                        texts: each expression matches "key:text" of some label
//	method=GET,POST               one of the expressions matches the text of the label method
//
// Text that can be a range is one: as in pprof, "404" is the number.
func ParseTagFilter(s string) (*TagFilter, error) {
	f := &TagFilter{text: s}
	if key, value, ok := strings.Cut(s, "="); ok {
		f.key, s = key, value
	}
	var err error
	if f.within, err = parseTagRange(s); f.within != nil || err != nil {
		return f, err
	}
	for _, expression := range strings.Split(s, ",") {
		re, err := regexp.Compile(expression)
		if err != nil {
			return nil, err
		}
		f.texts = append(f.texts, re)
	}
	return f, nil
}

// String returns the text that was parsed.
func (f *TagFilter) String() string { return f.text }

// parseTagRange returns nil if s is not a range.
func parseTagRange(s string) (*tagRange, error) {
	first, rest, err := cutQuantity(strings.TrimPrefix(s, ":"))
	if first == nil || err != nil {
		return nil, err
	}
	v, unit := measure.Scale(first.n, first.unit, first.unit)
	r := &tagRange{low: v, high: v, hasLow: true, hasHigh: true, unit: unit}
	switch {
	case strings.HasPrefix(s, ":"):
		r.hasLow = false
		if rest != "" {
			return nil, nil
		}
		return r, nil
	case rest == "":
		return r, nil
	case rest == ":":
		r.hasHigh = false
		return r, nil
	case rest[0] != ':':
		return nil, nil
	}
	second, rest, err := cutQuantity(rest[1:])
	if second == nil || rest != "" || err != nil {
		return nil, err
	}
	var highUnit string
	if r.high, highUnit = measure.Scale(second.n, second.unit, unit); highUnit != unit {
		return nil, nil
	}
	return r, nil
}

type quantity struct {
	n    int64
	unit string
}

// cutQuantity cuts an integer and the letters after it off the start of s.
func cutQuantity(s string) (*quantity, string, error) {
	m := regexp.MustCompile(`^([+-]?[[:digit:]]+)([[:alpha:]]*)`).FindStringSubmatch(s)
	if m == nil {
		return nil, s, nil
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return nil, s, fmt.Errorf("%s does not fit in 64 bits", m[1])
	}
	return &quantity{n, m[2]}, s[len(m[0]):], nil
}

func (r *tagRange) has(n int64, unit string) bool {
	v, u := measure.Scale(n, unit, r.unit)
	return u == r.unit && (!r.hasLow || v >= r.low) && (!r.hasHigh || v <= r.high)
}

// matches reports whether a set of labels meets the condition; units are those of numeric labels.
func (f *TagFilter) matches(labels []Label, units map[string]string) bool {
	if f.within != nil {
		return slices.ContainsFunc(labels, func(l Label) bool {
			return l.Str == "" && (f.key == "" || f.key == l.Key) && f.within.has(l.Num, units[l.Key])
		})
	}
	some := func(re *regexp.Regexp) bool {
		return slices.ContainsFunc(labels, func(l Label) bool {
			if l.Str == "" {
				return false
			}
			if f.key == "" {
				return re.MatchString(l.Key + ":" + l.Str)
			}
			return f.key == l.Key && re.MatchString(l.Str)
		})
	}
	if f.key != "" {
		return slices.ContainsFunc(f.texts, some)
	}
	return !slices.ContainsFunc(f.texts, func(re *regexp.Regexp) bool { return !some(re) })
}

// keepTagged keeps the samples whose labels match, or those whose labels do not.
// It reports whether any sample matched. The units are those of numeric labels.
func (p *Profile) keepTagged(f *TagFilter, keep bool, units map[string]string) (*Profile, bool) {
	match := p.setsThatMatch(f, units)
	rows, matched := newRows(p.NumSamples()), false
	for row := range p.NumSamples() {
		m := match[p.LabelSet(row)]
		matched = matched || m
		if m == keep {
			rows.add(row)
		}
	}
	return p.Keep(rows), matched
}

// setsThatMatch reports, by label set, whether a filter matches.
func (p *Profile) setsThatMatch(f *TagFilter, units map[string]string) []bool {
	match := make([]bool, p.NumLabelSets())
	for set := range match {
		match[set] = f.matches(p.LabelsOf(set), units)
	}
	return match
}

// keepTags keeps the labels whose key matches, or those whose key does not. It
// reports whether any key matched.
func (p *Profile) keepTags(re *regexp.Regexp, keep bool) (*Profile, bool) {
	matched := false
	q := p.mapLabels(func(l Label) bool {
		m := re.MatchString(l.Key)
		matched = matched || m
		return m == keep
	})
	return q, matched
}

// mapLabels keeps the labels for which wanted is true.
func (p *Profile) mapLabels(wanted func(Label) bool) *Profile {
	if p.labelSet == nil {
		return p
	}
	in := newLabelInterner()
	sets := make([]int32, p.NumLabelSets())
	for set := range sets {
		sets[set] = in.addLabels(slices.DeleteFunc(p.LabelsOf(set), func(l Label) bool { return !wanted(l) }))
	}
	q := *p
	q.labels = in.table
	q.labelSet = make([]int32, len(p.labelSet))
	for row, set := range p.labelSet {
		q.labelSet[row] = sets[set]
	}
	return &q
}
