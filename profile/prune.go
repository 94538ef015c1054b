package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DropUninteresting applies the profile's own DropFrames and KeepFrames, as pprof does before it
// reports: in each stack, the outermost matching frame below a frame that does not match is removed
// with all its callees. It returns p itself when the profile drops nothing.
func (p *Profile) DropUninteresting() (*Profile, error) {
	if p.DropFrames == "" {
		return p, nil
	}
	drop, err := regexp.Compile("^(" + p.DropFrames + ")$")
	if err != nil {
		return nil, fmt.Errorf("drop_frames of the profile: %w", err)
	}
	var keep *regexp.Regexp
	if p.KeepFrames != "" {
		if keep, err = regexp.Compile("^(" + p.KeepFrames + ")$"); err != nil {
			return nil, fmt.Errorf("keep_frames of the profile: %w", err)
		}
	}
	return p.prune(drop, keep), nil
}

// Results of matching a location.
const (
	pruneNot     = iota
	pruneWhole   // its outermost line matches: the location is removed
	pruneBeneath // a line inlined into it matches: the outer lines remain
)

func (p *Profile) prune(drop, keep *regexp.Regexp) *Profile {
	matches := make([]bool, len(p.Functions))
	for i := range p.Functions {
		if name := p.Functions[i].Name; name != "" {
			name = plainName(name)
			matches[i] = drop.MatchString(name) && (keep == nil || !keep.MatchString(name))
		}
	}
	q := *p
	q.Locations = slices.Clone(p.Locations)
	how := make([]uint8, len(p.Locations))
	any := false
	for i := range q.Locations {
		l := &q.Locations[i]
		for j := len(l.Lines) - 1; j >= 0; j-- {
			if !matches[l.Lines[j].Func] {
				continue
			}
			any = true
			if how[i] = pruneWhole; j < len(l.Lines)-1 {
				how[i] = pruneBeneath
				l.Lines = l.Lines[j+1:]
			}
			break
		}
	}
	if !any {
		return p
	}
	q.stacks.Spans = slices.Clone(p.stacks.Spans)
	for row := range q.stacks.Spans {
		s := &q.stacks.Spans[row]
		cut := pruneAt(p.stacks.Row(row), how)
		s.Off += uint32(cut)
		s.N -= uint32(cut)
	}
	return &q
}

// pruneAt returns the number of leaf frames to remove from a stack. Matching frames outside the
// first frame that does not match remain, so that no sample loses its whole stack.
func pruneAt(stack []int32, how []uint8) int {
	kept := false
	for i := len(stack) - 1; i >= 0; i-- {
		switch h := how[stack[i]]; {
		case h == pruneNot:
			kept = true
		case kept && h == pruneWhole:
			return i + 1
		case kept:
			return i
		}
	}
	return 0
}

// plainName returns a function name without its argument list, which starts at the first
// parenthesis that is not part of the name.
func plainName(name string) string {
	name = strings.TrimPrefix(name, ".") // PPC64 ELFv1
	for i := 0; i < len(name); i++ {
		if name[i] != '(' {
			continue
		}
		// "operator()" is matched from its first letter, as in pprof.
		if strings.HasPrefix(name[i:], "(anonymous namespace)") {
			i += len("(anonymous namespace)") - 1
			continue
		}
		if strings.HasPrefix(name[i:], "()") && strings.HasSuffix(name[:i], "operator") {
			i++
			continue
		}
		return name[:i]
	}
	return name
}

// showFrom removes the callers of each stack's outermost frame that matches re, and drops stacks
// without such a frame.
func (p *Profile) showFrom(re *regexp.Regexp) (q *Profile, matched bool) {
	q, rows, matched := p.cutCallers(p.newMatcher(re))
	return q.keepOwn(rows), matched
}

// cutCallers removes the callers of each stack's outermost frame that matches. rows are those with
// such a frame; the others are not changed. The spans of q are its own.
func (p *Profile) cutCallers(m *matcher) (q *Profile, rows Rows, matched bool) {
	q = p.withOwnLocations()
	match := make([]bool, len(q.Locations))
	for i := range q.Locations {
		l := &q.Locations[i]
		if match[i] = m.location(l); match[i] {
			l.Lines = l.Lines[:m.upTo(l)]
		}
	}
	rows = newRows(p.NumSamples())
	for row := range q.stacks.Spans {
		stack := p.stacks.Row(row)
		for i := len(stack) - 1; i >= 0; i-- {
			if match[stack[i]] {
				q.stacks.Spans[row].N = uint32(i + 1)
				rows.add(row)
				break
			}
		}
	}
	return q, rows, slices.Contains(match, true)
}

// pruneFrom removes the callees of each stack's innermost matching function.
func (p *Profile) pruneFrom(re *regexp.Regexp) (q *Profile, matched bool) {
	match := make([]bool, len(p.Functions))
	for i := range p.Functions {
		match[i] = p.Functions[i].Name != "" && re.MatchString(plainName(p.Functions[i].Name))
	}
	q = p.withOwnLocations()
	from := make([]bool, len(q.Locations))
	for i := range q.Locations {
		l := &q.Locations[i]
		if j := slices.IndexFunc(l.Lines, func(ln Line) bool { return match[ln.Func] }); j >= 0 {
			l.Lines, from[i] = l.Lines[j:], true
		}
	}
	for row := range q.stacks.Spans {
		if i := slices.IndexFunc(p.stacks.Row(row), func(l int32) bool { return from[l] }); i > 0 {
			s := &q.stacks.Spans[row]
			s.Off += uint32(i)
			s.N -= uint32(i)
		}
	}
	return q, slices.Contains(from, true)
}

// withOwnLocations returns a copy whose location table and spans may be changed.
func (p *Profile) withOwnLocations() *Profile {
	q := *p
	q.Locations = slices.Clone(p.Locations)
	q.stacks.Spans = slices.Clone(p.stacks.Spans)
	return &q
}
