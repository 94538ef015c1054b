package profile

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// mostLiterals bounds the sets of texts below.
const mostLiterals = 16

// literalsOf returns what is known about the matches of an expression. Searching a name for its
// literals costs a tenth of matching it, and few of the tens of thousands of names that a filter
// examines match.
func literalsOf(expression string) literals {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return literals{}
	}
	re = re.Simplify()
	l := literalsIn(re)
	if looksBack(re) {
		l.first = nil
	}
	return l
}

// looksBack reports whether a match may depend on the text before it.
func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksBack)
}

// literals is what is known about the texts that an expression matches.
type literals struct {
	exact    []string // each match is one of these; nil if unknown
	required []string // each match contains one of these; nil if unknown
	first    []string // each match starts with one of these, none of them empty; nil if unknown
}

func exactly(texts ...string) literals {
	return literals{texts, better(nil, texts), better(nil, texts)}
}

// rest returns a text from where the first match may start. ok is false if there is none.
func (l literals) rest(text string) (rest string, ok bool) {
	if l.required != nil && !slices.ContainsFunc(l.required, func(t string) bool { return strings.Contains(text, t) }) {
		return "", false
	}
	if l.first == nil {
		return text, true
	}
	start := len(text)
	for _, t := range l.first {
		if i := strings.Index(text[:min(len(text), start+len(t)-1)], t); i >= 0 {
			start = i
		}
	}
	return text[start:], start < len(text)
}

func literalsIn(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return exactly(string(re.Rune))
		}
	case syntax.OpCharClass:
		return literalsInClass(re.Rune)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly("")
	case syntax.OpCapture:
		return literalsIn(re.Sub[0])
	case syntax.OpPlus:
		l := literalsIn(re.Sub[0])
		l.exact = nil
		return l
	case syntax.OpQuest:
		if sub := literalsIn(re.Sub[0]).exact; sub != nil && len(sub) < mostLiterals {
			return exactly(append(slices.Clone(sub), "")...)
		}
	case syntax.OpConcat:
		return literalsInSequence(re.Sub)
	case syntax.OpAlternate:
		return literalsInAny(re.Sub)
	}
	return literals{}
}

// literalsInClass takes pairs of first and last rune.
func literalsInClass(pairs []rune) literals {
	var texts []string
	for i := 0; i < len(pairs); i += 2 {
		if int(pairs[i+1]-pairs[i]) >= mostLiterals-len(texts) {
			return literals{}
		}
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			texts = append(texts, string(r))
		}
	}
	return exactly(texts...)
}

func literalsInSequence(subs []*syntax.Regexp) literals {
	run, exact := []string{""}, true // run: what the last parts match together
	var required, first []string
	for _, sub := range subs {
		l := literalsIn(sub)
		if l.exact != nil && len(run)*len(l.exact) <= mostLiterals {
			var longer []string
			for _, a := range run {
				for _, b := range l.exact {
					longer = append(longer, a+b)
				}
			}
			run = longer
			continue
		}
		if required = better(better(required, run), l.required); exact {
			first = better(nil, run)
		}
		if run, exact = l.exact, false; run == nil {
			run = []string{""}
		}
	}
	if required = better(required, run); exact {
		return literals{run, required, better(nil, run)}
	}
	return literals{required: required, first: first}
}

func literalsInAny(subs []*syntax.Regexp) literals {
	var all literals
	for i, sub := range subs {
		l := literalsIn(sub)
		all.exact = union(all.exact, l.exact, i == 0)
		all.required = union(all.required, l.required, i == 0)
		all.first = union(all.first, l.first, i == 0)
	}
	return all
}

// union is nil if one of the sets is, or if it becomes too large.
func union(all, more []string, first bool) []string {
	if more == nil || all == nil && !first || len(all)+len(more) > mostLiterals {
		return nil
	}
	return append(slices.Clone(all), more...)
}

// better returns the set whose shortest text is longer: fewer names contain it. nil if it is empty.
func better(a, b []string) []string {
	if shortest(b) > shortest(a) {
		return b
	}
	return a
}

func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
