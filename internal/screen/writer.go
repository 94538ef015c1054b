package screen

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Writer escapes what is written to it, except printable text, line ends, and renditions in its own
// ink. Tabs become spaces up to the next eighth column; a carriage return before a line end is
// removed. Flush must be called at the end: the Writer holds back an incomplete character.
type Writer struct {
	w      io.Writer
	ink    Ink
	held   []byte // the start of an incomplete character or sequence
	column int    // in characters, after what was written
}

// New returns a Writer to w that keeps colours in ink; with the zero Ink it keeps none.
func New(w io.Writer, ink Ink) *Writer { return &Writer{w: w, ink: ink} }

// Write escapes p and writes it. It returns len(p) unless writing fails.
func (s *Writer) Write(p []byte) (int, error) {
	if len(s.held) > 0 {
		if err := s.write(append(s.held, p...), false); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	if err := s.write(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back.
func (s *Writer) Flush() error { return s.write(s.held, true) }

// write escapes text; last says that it is the end.
func (s *Writer) write(text []byte, last bool) error {
	s.held = nil
	var out []byte // allocated when it differs from the text
	kept := 0      // number of bytes of text that are already in out
	at, counted := s.column, 0
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f || c == '\n' {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if printable(r, n) {
			i += n
			continue
		}
		if !last && !s.whole(text[i:]) {
			s.held = bytes.Clone(text[i:])
			text = text[:i]
			break
		}
		out = append(out, text[kept:i]...)
		if r == '\t' {
			at = column(at, out[counted:])
			fill := tabWidth - at%tabWidth
			out = append(out, spaces[:fill]...)
			at, counted = at+fill, len(out)
		} else {
			out, n = s.special(out, text[i:], r, n)
		}
		i += n
		kept = i
	}
	if kept == 0 { // nothing was escaped
		out = text
	} else {
		out = append(out, text[kept:]...)
	}
	s.column = column(at, out[counted:])
	if len(out) == 0 {
		return nil
	}
	_, err := s.w.Write(out)
	return err
}

// whole reports whether text, which starts with a character that is not printable, is complete
// enough to decide what it is.
func (s *Writer) whole(text []byte) bool {
	switch text[0] {
	case '\r':
		return len(text) > 1
	case '\x1b':
		if s.ink == "" {
			return true
		}
		prefix := s.ink.prefix()
		if len(text) < len(prefix) {
			return !strings.HasPrefix(prefix, string(text))
		}
		start := text[:min(len(text), len(prefix)+3)] // two digits and an m, at most
		return len(start) == len(prefix)+3 || !bytes.HasPrefix(start, []byte(prefix)) || bytes.IndexByte(start, 'm') >= 0
	}
	return utf8.FullRune(text)
}

// special appends the replacement of the start of text, whose first rune r of n bytes is not
// printable, and returns how many bytes it replaces.
func (s *Writer) special(out, text []byte, r rune, n int) ([]byte, int) {
	switch r {
	case '\r':
		if len(text) > 1 && text[1] == '\n' {
			return out, 1
		}
	case '\x1b':
		if code, size := s.own(text); size > 0 {
			return append(out, Ink("").sequence(code)...), size
		}
	}
	return appendEscaped(out, text[0], r, n), n
}

// own returns the rendition in this writer's ink at the start of text, and its size; 0 for none.
func (s *Writer) own(text []byte) (SGR, int) {
	if s.ink == "" || !bytes.HasPrefix(text, []byte(s.ink.prefix())) {
		return 0, 0
	}
	code, i := 0, len(s.ink.prefix())
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9' && code < 100; i++ {
		code = 10*code + int(text[i]-'0')
	}
	if i == len(text) || text[i] != 'm' || strings.IndexByte(renditions, byte(code)) < 0 {
		return 0, 0
	}
	return SGR(code), i + 1
}

// Tabs end at every eighth column.
const (
	tabWidth = 8
	spaces   = "        "
)

// column returns the column after text that starts at a column, without counting colours.
func column(at int, text []byte) int {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		at, text = 0, text[i+1:]
	}
	for line := string(text); line != ""; {
		from, to := sgr(line)
		at += utf8.RuneCountInString(line[:from])
		line = line[to:]
	}
	return at
}
