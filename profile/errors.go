package profile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrText means that the input is text and not protobuf: Go's legacy debug=1 format, a goroutine
// dump, or an error page. Package textual reads the first two.
var ErrText = errors.New("not a binary profile but text")

// ErrTooLarge means that the decompressed profile exceeds the limit given to Decode, or is so much
// larger than the compressed one that it must be a decompression bomb.
var ErrTooLarge = errors.New("profile too large")

// SyntaxError says what is malformed in a profile and where.
type SyntaxError struct {
	Offset  int64  // in the decompressed profile, in bytes; -1 when the error is between tables
	Field   string // e.g. "sample 812: location_id"
	Problem string
}

func (e *SyntaxError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %s", e.Field, e.Problem)
	}
	return fmt.Sprintf("%s at byte %d: %s", e.Field, e.Offset, e.Problem)
}

func syntaxErrorf(at int64, field, format string, args ...any) error {
	return &SyntaxError{Offset: at, Field: field, Problem: fmt.Sprintf(format, args...)}
}

// textError returns an error that wraps ErrText if head, the start of the input, looks like text,
// and nil otherwise.
func textError(head []byte) error {
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		cut := r == utf8.RuneError && n == 1 && len(rest) < utf8.UTFMax // a rune cut by the end of head
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == utf8.RuneError && n == 1 && !cut || r == 0x7f {
			return nil
		}
		rest = rest[n:]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	line = strings.TrimSpace(line)
	if len(line) > 80 {
		line = strings.ToValidUTF8(line[:80], "") + "…"
	}
	hint := ""
	for _, prefix := range []string{"heap profile:", "goroutine profile:", "threadcreate profile:", "--- contention", "--- mutex", "--- block", "goroutine "} {
		if strings.HasPrefix(line, prefix) {
			hint = "; it is Go's legacy text format: fetch it again without debug=1 or debug=2"
		}
	}
	return fmt.Errorf("%w (first line %q)%s", ErrText, line, hint)
}
