package profile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrText says that the input is text and not protobuf: Go's legacy debug=1
// format, a goroutine dump, or an error page. Package textual reads the former.
var ErrText = errors.New("not a binary profile but text")

// ErrTooLarge says that the inflated profile exceeds the limit given to Decode,
// or inflates so far beyond its compressed size that it must be a bomb.
var ErrTooLarge = errors.New("profile too large")

// SyntaxError says what is malformed in a profile and where.
type SyntaxError struct {
	Offset  int64  // in the inflated profile, in bytes; -1 when the fault is between tables
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

// textError returns an error that wraps ErrText when head, the first bytes of
// the input, reads as text, and nil otherwise.
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
