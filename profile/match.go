package profile

import (
	"regexp"
	"slices"
)

// matcher caches the matches of an expression by function and mapping: a function is in many
// locations.
type matcher struct {
	p         *Profile
	re        *regexp.Regexp
	functions []bool
	mappings  []bool
}

func (p *Profile) newMatcher(re *regexp.Regexp) *matcher {
	m := &matcher{p: p, re: re, functions: make([]bool, len(p.Functions)), mappings: make([]bool, len(p.Mappings))}
	literals := literalsOf(re.String())
	matches := func(text string) bool {
		rest, ok := literals.rest(text)
		return ok && re.MatchString(rest)
	}
	files := map[string]bool{} // one file has many functions
	for i := range p.Functions {
		f := &p.Functions[i]
		of, known := files[f.Filename]
		if !known {
			of = matches(f.Filename)
			files[f.Filename] = of
		}
		m.functions[i] = of || matches(f.Name)
	}
	for i := range p.Mappings {
		m.mappings[i] = re.MatchString(p.Mappings[i].File)
	}
	return m
}

// any reports whether the expression matches anything in the profile's tables.
func (m *matcher) any() bool {
	return slices.Contains(m.functions, true) || slices.Contains(m.mappings, true)
}

func (m *matcher) mapping(i int32) bool { return i >= 0 && m.mappings[i] }

func (m *matcher) function(f int32) bool { return m.functions[f] }

// line reports whether a line of a location matches.
func (m *matcher) line(l *Location, ln Line) bool {
	return m.mapping(l.Mapping) || m.functions[ln.Func]
}

func (m *matcher) location(l *Location) bool {
	return m.mapping(l.Mapping) || slices.ContainsFunc(l.Lines, func(ln Line) bool { return m.functions[ln.Func] })
}

// upTo returns the number of lines of a location that matches, up to the outermost that does.
func (m *matcher) upTo(l *Location) int {
	n := len(l.Lines)
	for !m.mapping(l.Mapping) && !m.functions[l.Lines[n-1].Func] {
		n--
	}
	return n
}
