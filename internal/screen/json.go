package screen

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a writer of JSON that escapes characters in strings that encoding/json does not
// escape although they are not printable: DEL, C1 and bidi controls, invisible characters. The
// value stays the same.
func JSON(w io.Writer) io.Writer { return &jsonWriter{w: w} }

type jsonWriter struct {
	w    io.Writer
	held []byte // the start of an incomplete character
}

func (j *jsonWriter) Write(p []byte) (int, error) {
	text := p
	if len(j.held) > 0 {
		text = append(j.held, p...)
		j.held = nil
	}
	var out []byte
	kept := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f { // encoding/json escapes controls already, except the line ends between tokens
			i++
			continue
		}
		if !utf8.FullRune(text[i:]) {
			j.held = append([]byte(nil), text[i:]...)
			text = text[:i]
			break
		}
		r, n := utf8.DecodeRune(text[i:])
		if !printable(r, n) {
			out = append(out, text[kept:i]...)
			if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
				out = appendJSON(appendJSON(out, hi), lo)
			} else {
				out = appendJSON(out, r)
			}
			kept = i + n
		}
		i += n
	}
	if out == nil {
		out = text
	} else {
		out = append(out, text[kept:]...)
	}
	if _, err := j.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// appendJSON appends the escape of a rune below 0x10000.
func appendJSON(out []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(out, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
