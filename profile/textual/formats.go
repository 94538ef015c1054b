package textual

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hone-go/hone/profile"
)

// format is one way to write a profile as text.
type format struct {
	name string
	// is reports whether the first lines of a text, at least one, are of this format.
	is func(head []string) bool
	// read reads the whole text.
	read func(*reader) (*profile.Profile, error)
}

// formats lists all formats. Those that are easiest to recognise reliably come first.
func formats() []format {
	return []format{
		{"Go heap text", isHeap, readHeap},
		{"Go contention text", isContention, readContention},
		{"Go count text", isCount, readCount},
		{"goroutine dump", isDump, readDump},
		{"perf script", isPerf, readPerf},
		{"folded stacks", isFolded, readFolded},
	}
}

// HeadBytes is how much of an input Detect needs.
const HeadBytes = 64 << 10

// Detect returns the name of the text format of an input, "" for none. head is the start of the
// input, up to HeadBytes; it may be compressed with gzip or zstd.
func Detect(head []byte) string {
	r, err := profile.Inflate(bytes.NewReader(head), 0)
	if err != nil {
		return ""
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, HeadBytes)) // head may end inside a compressed stream: not an error here
	if f := detect(text, err == nil && len(head) < HeadBytes && len(text) < HeadBytes); f != nil {
		return f.name
	}
	return ""
}

// detect finds the format of a text by its first bytes. whole says that they are the whole text.
func detect(text []byte, whole bool) *format {
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1] // the last line may be incomplete
	}
	if !isText(text) {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for _, f := range formats() {
		if f.is(lines) {
			return &f
		}
	}
	return nil
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return utf8.Valid(b)
}

// Decode reads a text profile, which may be compressed with gzip or zstd, of at most maxBytes after
// decompression (0 = profile.DefaultMaxBytes). Errors name the format and the line. If the format
// is unknown, the error wraps profile.ErrText.
func Decode(r io.Reader, maxBytes int64) (*profile.Profile, error) {
	in, err := profile.Inflate(r, maxBytes)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	br := bufio.NewReaderSize(in, HeadBytes)
	head, err := br.Peek(HeadBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	f := detect(head, err == io.EOF)
	if f == nil {
		return nil, fmt.Errorf("%w of no known format: neither Go's debug=1 text nor a goroutine dump, folded stacks or the output of perf script", profile.ErrText)
	}
	rd := newReader(br)
	p, err := f.read(rd)
	if rd.err != nil {
		err = rd.err
	}
	if err != nil {
		return nil, fmt.Errorf("%s, line %d: %w", f.name, rd.line, err)
	}
	return p, nil
}
