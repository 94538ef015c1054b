package screen

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// Ink is a mark on colours for a Writer. Only sequences with the Writer's own ink reach the
// terminal, so data cannot contain colours or anything that looks like them. The zero Ink marks
// nothing: what it paints is for a writer other than this package's.
type Ink string

// NewInk returns a unique ink.
func NewInk() Ink {
	var digits strings.Builder
	var b [16]byte
	rand.Read(b[:]) // does not fail
	for _, x := range b {
		fmt.Fprintf(&digits, "%03d", x)
	}
	return Ink(digits.String())
}

// SGR is a rendition of text, by the number that selects it on a terminal.
type SGR byte

// The renditions that hone uses.
const (
	Bold  SGR = 1
	Faint SGR = 2
	Red   SGR = 31
	Green SGR = 32
	Cyan  SGR = 36
)

const reset SGR = 0

// renditions are the renditions that a Writer keeps.
const renditions = "\x00\x01\x02\x1f\x20\x24"

// Paint returns text in a rendition, line by line.
func (k Ink) Paint(s SGR, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if bare != "" {
			out.WriteString(k.sequence(s))
			out.WriteString(bare)
			out.WriteString(k.sequence(reset))
		}
		out.WriteString(line[len(bare):])
	}
	return out.String()
}

// prefix returns the start of this ink's sequences.
func (k Ink) prefix() string {
	if k == "" {
		return "\x1b["
	}
	return "\x1b[" + string(k) + ";"
}

func (k Ink) sequence(s SGR) string { return fmt.Sprintf("%s%dm", k.prefix(), s) }
