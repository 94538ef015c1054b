package regexpofwords

import (
	"slices"
	"strings"
)

// list is what patterns that are only words match.
type list struct {
	words  []string
	fold   bool   // in upper and lower case
	joined string // the call that joins words that are not known; "" when all are
}

// with returns both lists as one.
func (l list) with(o list) list {
	if l.joined == "" {
		l.joined = o.joined
	}
	l.fold = l.fold || o.fold
	l.words = slices.Concat(l.words, o.words)
	return l
}

// parse returns the words of a pattern that matches only some words, as whole texts. It supports
// the form (?i)^(?:one|two)$, also with \A and \z, a capturing group and flags in the group.
func parse(pattern string) (l list, ok bool) {
	pattern, l.fold = strings.CutPrefix(pattern, "(?i)")
	if inner, ok := anchored(pattern); ok {
		var more bool
		inner, more = strings.CutPrefix(inner, "(?i)")
		l.fold = l.fold || more
		for _, open := range []string{"(?:", "(?i:", "("} {
			rest, is := strings.CutPrefix(inner, open)
			rest, ends := strings.CutSuffix(rest, ")")
			if !is || !ends {
				continue
			}
			l.fold = l.fold || open == "(?i:"
			l.words, ok = alternatives(rest)
			return l, ok && len(l.words) > 1
		}
		return list{}, false
	}
	return list{}, false
}

// anchored returns what is between the anchors of a whole text.
func anchored(pattern string) (string, bool) {
	inner, begins := strings.CutPrefix(pattern, "^")
	if !begins {
		inner, begins = strings.CutPrefix(pattern, `\A`)
	}
	rest, ends := strings.CutSuffix(inner, `\z`)
	if !ends {
		rest, ends = strings.CutSuffix(inner, "$")
	}
	return rest, begins && ends
}

// alternatives splits literals at |, and removes the backslashes before punctuation; false if there
// is anything but literals.
func alternatives(text string) (words []string, ok bool) {
	var word strings.Builder
	escaped := false
	for _, c := range text {
		switch {
		case escaped && !strings.ContainsRune(`\.+*?()|[]{}^$-/ #&~`+"`'\"!%,:;<=>@_", c):
			return nil, false // a class, or the end of a text
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '|':
			words = append(words, word.String())
			word.Reset()
		case strings.ContainsRune(".+*?()[]{}^$", c):
			return nil, false
		default:
			word.WriteRune(c)
		}
	}
	return append(words, word.String()), !escaped
}
