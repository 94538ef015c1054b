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
	for i := range p.Functions {
		f := &p.Functions[i]
		m.functions[i] = re.MatchString(f.Name) || re.MatchString(f.Filename)
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

func (m *matcher) function(f int32) bool { return m.functions[f] }

func (m *matcher) mapping(i int32) bool { return i >= 0 && m.mappings[i] }

func (m *matcher) location(l *Location) bool {
	return m.mapping(l.Mapping) || slices.ContainsFunc(l.Lines, func(ln Line) bool { return m.functions[ln.Func] })
}
