package recording

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
)

// ends finds plausible end records, from the end of the file to its start. A whole recording has
// one right at its end; only a file that was cut off is scanned.
func ends(ra io.ReaderAt, size int64) iter.Seq2[end, error] {
	const chunk = 64 << 10
	signature := []byte("PK\x05\x06")
	return func(yield func(end, error) bool) {
		buf := make([]byte, chunk+endLen-1)
		for hi := size; hi > 0; {
			// [lo, hi) holds the records' first bytes; the read goes endLen-1 further,
			// so that a record across the border is seen whole.
			lo := max(0, hi-chunk)
			b := buf[:min(hi+endLen-1, size)-lo]
			if _, err := ra.ReadAt(b, lo); err != nil && err != io.EOF {
				yield(end{}, fmt.Errorf("read %d bytes at %d: %w", len(b), lo, err))
				return
			}
			for _, i := range slices.Backward(positions(b, signature)) {
				at := lo + int64(i)
				if at >= hi {
					continue // the chunk behind had it
				}
				e, ok := parseEnd(b[i:], at)
				if ok && at+endLen+e.comment <= size && !yield(e, nil) {
					return
				}
			}
			hi = lo
		}
	}
}

// positions lists where sep occurs in b. Searching forward is several times as fast as
// bytes.LastIndex, which matters after a large part that was cut off.
func positions(b, sep []byte) (at []int) {
	for from := 0; ; {
		i := bytes.Index(b[from:], sep)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// foreign returns the error for a file that is not a recording, naming what it is instead.
func foreign(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrForeign, fmt.Sprintf(format, args...))
}

// sniff names the kind of file that starts with head, for the kinds that users meet.
func sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "it is gzip'd, perhaps a pprof profile (those open with hone top and its kin)"
	case bytes.HasPrefix(head, []byte("go 1.")) && bytes.Contains(head, []byte(" trace")):
		return "it is an execution trace (those open with hone trace)"
	case bytes.HasPrefix(head, []byte("PK")):
		return "it is a zip without content"
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("MZ")),
		bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return "it is an executable"
	}
	return fmt.Sprintf("it begins with %.16q", head)
}
