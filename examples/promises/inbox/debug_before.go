//go:build !fix_debug

package main

import "strings"

// isLabel reports whether a word of a message is one of its labels.
func (in *inbox) isLabel(m message, i int, word string) bool {
	in.log.Debug("looking at a word", "message", m.id, "place", i, "word", word, "size", m.size)
	return strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]")
}
