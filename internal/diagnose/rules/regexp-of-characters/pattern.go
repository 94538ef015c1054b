package regexpofcharacters

import (
	resyntax "regexp/syntax"
	"slices"
	"unicode/utf8"
)

// kind is what a pattern asks of a text.
type kind int

const (
	other    kind = iota
	consists      // the text consists of characters of one set
	contains      // a character of one set is anywhere in the text
	steps         // sets and literals follow each other; each character decides what can follow
)

// mostParts is the number of sets and literals up to which a loop by hand is easy to write.
const mostParts = 10

// check is what a pattern asks, as far as a loop can answer it.
type check struct {
	kind  kind
	empty bool // of consists: an empty text matches
	least int  // of consists: the least number of characters
	most  int  // -1 for no limit; of contains: of characters in a match
	bytes bool // a loop over the bytes does: no character of several bytes is counted or looked up
}

// parse returns what a pattern asks of a text; other if a loop that never goes back could not
// answer it, or if the pattern has no set of characters.
func parse(pattern string) check {
	re, err := resyntax.Parse(pattern, resyntax.Perl)
	if err != nil {
		return check{}
	}
	parts := flatten(re)
	begin := len(parts) > 0 && parts[0].Op == resyntax.OpBeginText
	if begin {
		parts = parts[1:]
	}
	end := len(parts) > 0 && parts[len(parts)-1].Op == resyntax.OpEndText
	if end {
		parts = parts[:len(parts)-1]
	}
	w := walker{bytes: true, any: !begin && !end}
	if _, _, ok := w.all(parts, nil); !ok || w.sets == 0 || w.parts > mostParts {
		return check{}
	}
	c := check{bytes: w.bytes, most: 1, least: 1}
	switch only := len(parts) == 1 && w.parts == 1; {
	case begin && end && only:
		c.kind = consists
		if re := parts[0]; re.Op != resyntax.OpCharClass {
			c.least, c.most = limits(re)
		}
		c.empty = c.least == 0
	case !begin && !end && only && (parts[0].Op == resyntax.OpCharClass || parts[0].Op == resyntax.OpPlus):
		c.kind = contains
		if parts[0].Op == resyntax.OpPlus {
			c.most = -1
		}
	case begin && end:
		c.kind = steps
	default:
		return check{}
	}
	return c
}

// flatten returns what follows each other in an expression, without groups.
func flatten(re *resyntax.Regexp) []*resyntax.Regexp {
	switch re.Op {
	case resyntax.OpCapture:
		return flatten(re.Sub[0])
	case resyntax.OpConcat:
		var all []*resyntax.Regexp
		for _, sub := range re.Sub {
			all = append(all, flatten(sub)...)
		}
		return all
	}
	return []*resyntax.Regexp{re}
}

// limits returns how often an expression repeats its part, -1 for no limit.
func limits(re *resyntax.Regexp) (least, most int) {
	switch re.Op {
	case resyntax.OpStar:
		return 0, -1
	case resyntax.OpPlus:
		return 1, -1
	case resyntax.OpQuest:
		return 0, 1
	}
	return re.Min, re.Max
}

// walker examines whether each character of a text decides alone how an expression goes on.
type walker struct {
	parts, sets int
	bytes       bool
	any         bool // the number of characters does not matter here
}

// all returns the characters that expressions that follow each other can start with, as ranges, if
// those of follow come after them, and whether they can be empty.
func (w *walker) all(parts []*resyntax.Regexp, follow []rune) (first []rune, empty, ok bool) {
	first, empty = follow, true
	for _, re := range slices.Backward(parts) {
		start, none, fine := w.one(re, first)
		if !fine {
			return nil, false, false
		}
		if none {
			start = slices.Concat(start, first)
		}
		first, empty = start, empty && none
	}
	return first, empty, true
}

func (w *walker) one(re *resyntax.Regexp, follow []rune) (first []rune, empty, ok bool) {
	switch re.Op {
	case resyntax.OpEmptyMatch:
		return nil, true, true
	case resyntax.OpCapture:
		return w.all(flatten(re), follow)
	case resyntax.OpConcat:
		return w.all(flatten(re), follow)
	case resyntax.OpLiteral:
		w.parts++
		return []rune{re.Rune[0], re.Rune[0]}, false, re.Flags&resyntax.FoldCase == 0
	case resyntax.OpCharClass:
		w.parts, w.sets = w.parts+1, w.sets+1
		w.bytes = w.bytes && len(re.Rune) > 0 && byBytes(re.Rune, w.any)
		return re.Rune, false, len(re.Rune) > 0
	case resyntax.OpStar, resyntax.OpPlus, resyntax.OpQuest, resyntax.OpRepeat:
		return w.repeated(re, follow)
	case resyntax.OpAlternate:
		for _, sub := range re.Sub {
			start, none, fine := w.one(sub, follow)
			if !fine || none || overlap(first, start) {
				return nil, false, false
			}
			first = slices.Concat(first, start)
		}
		return first, false, true
	}
	return nil, false, false
}

// repeated is one for an expression that repeats its part. What ends the repetition must not be
// what goes on with it.
func (w *walker) repeated(re *resyntax.Regexp, follow []rune) (first []rune, empty, ok bool) {
	least, most := limits(re)
	inside := follow
	if most != 1 {
		start, _, fine := (&walker{}).one(re.Sub[0], nil)
		if !fine {
			return nil, false, false
		}
		inside = slices.Concat(start, follow)
	}
	before := w.any
	w.any = most < 0 && least <= 1 && re.Sub[0].Op == resyntax.OpCharClass
	first, none, ok := w.one(re.Sub[0], inside)
	w.any = before
	if !ok || none || least != most && overlap(first, follow) {
		return nil, false, false
	}
	return first, least == 0, true
}

// overlap reports whether two lists of ranges have a character in common.
func overlap(a, b []rune) bool {
	for i := 0; i+1 < len(a); i += 2 {
		for k := 0; k+1 < len(b); k += 2 {
			if a[i] <= b[k+1] && b[k] <= a[i+1] {
				return true
			}
		}
	}
	return false
}

// byBytes reports whether a table of bytes decides the same as a set: it has no characters beyond
// ASCII or, if their number does not matter, all of them, which invalid UTF-8 counts as.
func byBytes(set []rune, uncounted bool) bool {
	last := set[len(set)-1]
	return last < utf8.RuneSelf || uncounted && last == utf8.MaxRune && set[len(set)-2] <= utf8.RuneSelf
}
