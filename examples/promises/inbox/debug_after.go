//go:build fix_debug

package main

import (
	"context"
	"log/slog"
	"strings"
)

// isLabel reports whether a word of a message is one of its labels.
func (in *inbox) isLabel(m message, i int, word string) bool {
	if in.log.Enabled(context.Background(), slog.LevelDebug) {
		in.log.Debug("looking at a word", "message", m.id, "place", i, "word", word, "size", m.size)
	}
	return strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]")
}
