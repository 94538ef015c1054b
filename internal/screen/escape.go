package screen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text as one line that is safe to print: everything that is not printable is escaped,
// including line ends and tabs.
func Line(text string) string {
	i := clean(text)
	if i == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+16), text[:i]...)
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if printable(r, n) {
			out = append(out, text[i:i+n]...)
		} else {
			out = appendEscaped(out, text[i], r, n)
		}
		i += n
	}
	return string(out)
}

// Cell is Line for text that may be painted: it keeps colours, which a Writer checks later.
func Cell(text string) string {
	if clean(text) == len(text) {
		return text
	}
	var out strings.Builder
	for text != "" {
		from, to := sgr(text)
		out.WriteString(Line(text[:from]))
		out.WriteString(text[from:to])
		text = text[to:]
	}
	return out.String()
}

// sgr returns the position of the first sequence that sets a colour or another rendition; the end
// of text, twice, if there is none.
func sgr(text string) (from, to int) {
	for from := 0; ; {
		i := strings.Index(text[from:], "\x1b[")
		if i < 0 {
			return len(text), len(text)
		}
		from += i
		to := from + 2
		for to < len(text) && (text[to] >= '0' && text[to] <= '9' || text[to] == ';') {
			to++
		}
		if to < len(text) && text[to] == 'm' {
			return from, to + 1
		}
		from = to
	}
}

// clean returns the number of bytes at the start of text that need no escape.
func clean(text string) int {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !printable(r, n) {
			return i
		}
		i += n
	}
	return len(text)
}

// printable reports whether a decoded rune of n bytes is visible as itself: it does not control a
// terminal, change the direction of text, or hide.
func printable(r rune, n int) bool {
	switch {
	case r == utf8.RuneError && n <= 1:
		return false
	case r < 0x7f:
		return r >= ' '
	case 0xa1 <= r && r <= 0x17f: // most others: Latin letters, µ, ·, ×
		return r != 0xad
	}
	return strconv.IsPrint(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.Is(unicode.Variation_Selector, r)
}

// appendEscaped appends the escape of a rune of n bytes, the first of which is b.
func appendEscaped(out []byte, b byte, r rune, n int) []byte {
	const hex = "0123456789abcdef"
	digits := func(count int) {
		for shift := 4 * (count - 1); shift >= 0; shift -= 4 {
			out = append(out, hex[r>>shift&15])
		}
	}
	switch {
	case r == utf8.RuneError && n <= 1:
		return append(out, '\\', 'x', hex[b>>4], hex[b&15])
	case r == '\n':
		return append(out, `\n`...)
	case r == '\r':
		return append(out, `\r`...)
	case r == '\t':
		return append(out, `\t`...)
	case r <= 0x7f:
		out = append(out, `\x`...)
		digits(2)
	case r <= 0xffff:
		out = append(out, `\u`...)
		digits(4)
	default:
		out = append(out, `\U`...)
		digits(8)
	}
	return out
}
