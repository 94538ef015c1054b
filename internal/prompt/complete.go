package prompt

import "strings"

// Completion is the result of completing a line.
type Completion struct {
	Line    string
	Pos     int      // of the cursor, in bytes
	Choices []string // the possible words, if there is more than one
}

// Complete completes the word before the cursor. candidates gets the words before it and the part
// that was typed, and returns the whole words that match. The word is extended to the common prefix
// of all candidates. If there is only one, a space follows, except after "=", where a value is
// expected.
func Complete(line string, pos int, candidates func(before []string, word string) []string) Completion {
	head, tail := line[:pos], line[pos:]
	start := strings.LastIndexAny(head, " \t") + 1
	word := head[start:]
	found := candidates(strings.Fields(head[:start]), word)
	c := Completion{Line: line, Pos: pos}
	if len(found) == 0 {
		return c
	}
	grown := found[0]
	for _, f := range found[1:] {
		grown = grown[:common(grown, f)]
	}
	if len(found) == 1 {
		if !strings.HasSuffix(grown, "=") && !strings.HasPrefix(tail, " ") {
			grown += " "
		}
	} else {
		c.Choices = found
		if len(grown) < len(word) {
			return c // they contain the word, but have no common prefix that extends it
		}
	}
	c.Line = head[:start] + grown + tail
	c.Pos = start + len(grown)
	return c
}

// common returns the length of the common prefix of a and b, in whole characters.
func common(a, b string) int {
	n := 0
	for i, r := range a {
		if !strings.HasPrefix(b[min(i, len(b)):], string(r)) {
			break
		}
		n = i + len(string(r))
	}
	return min(n, len(a), len(b))
}
