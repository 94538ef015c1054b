package prompt

import "strings"

// Completion is what became of a line.
type Completion struct {
	Line    string
	Pos     int      // of the cursor, in bytes
	Choices []string // what the word may become, when there is more than one
}

// Complete completes the word before the cursor. candidates gets the words
// before it and what was typed of it, and returns the whole words that fit. The
// word grows to what all of them begin with; when there is one only, a space
// follows, except behind "=", where a value is to come.
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
			return c // they contain the word, and begin in several ways
		}
	}
	c.Line = head[:start] + grown + tail
	c.Pos = start + len(grown)
	return c
}

// common returns the length of what a and b begin with, in whole characters.
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
