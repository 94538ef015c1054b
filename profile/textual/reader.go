package textual

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

const (
	maxLine   = 1 << 20 // bytes
	maxFrames = 1 << 16 // in a stack
)

var (
	errLine  = fmt.Errorf("longer than %d bytes", maxLine)
	errStack = fmt.Errorf("the stack has more than %d frames", maxFrames)
)

// reader goes through a text line by line.
type reader struct {
	s     *bufio.Scanner
	text  string // of the line
	line  int    // its number, from 1
	err   error  // that ended the reading; nil at the end of the text
	again bool   // next gives the same line once more
	names map[string]string
}

func newReader(r io.Reader) *reader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &reader{s: s, names: map[string]string{}}
}

// next steps to the next line. Ends of lines and spaces before them are not part of text.
func (r *reader) next() bool {
	if r.again {
		r.again = false
		return true
	}
	if r.err != nil {
		return false
	}
	if !r.s.Scan() || r.s.Err() != nil { // with an error the line may be cut
		if r.err = r.s.Err(); r.err != nil {
			r.line++
		}
		if errors.Is(r.err, bufio.ErrTooLong) {
			r.err = errLine
		}
		return false
	}
	r.line++
	r.text = strings.TrimRight(r.s.Text(), " \t\r")
	return true
}

// back makes the line be the next one again.
func (r *reader) back() { r.again = true }

// nextFull steps to the next line that is not empty.
func (r *reader) nextFull() bool {
	for r.next() {
		if r.text != "" {
			return true
		}
	}
	return false
}

// name returns s from the table of names, so that a name that is in many
// lines is held once and holds on to none of them.
func (r *reader) name(s string) string {
	if n, ok := r.names[s]; ok {
		return n
	}
	s = strings.Clone(s)
	r.names[s] = s
	return s
}

// place takes "dir/file.go:12" apart.
func (r *reader) place(s string) (file string, line int64, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	line, err := strconv.ParseInt(s[i+1:], 10, 64)
	if err != nil || line < 0 {
		return "", 0, false
	}
	return r.name(s[:i]), line, true
}

// quotedPairs reads `"k":"v", "k2":"v2"` up to a closing brace, as Go's runtime and
// runtime/pprof write labels, and returns what follows the brace.
func (r *reader) quotedPairs(s string) (labels []profile.Label, rest string, ok bool) {
	for {
		s = strings.TrimLeft(s, ", ")
		if after, found := strings.CutPrefix(s, "}"); found {
			return labels, after, true
		}
		var pair [2]string
		for i := range pair {
			q, err := strconv.QuotedPrefix(strings.TrimLeft(s, ": "))
			if err != nil {
				return nil, "", false
			}
			s = strings.TrimLeft(s, ": ")[len(q):]
			pair[i], _ = strconv.Unquote(q)
		}
		labels = append(labels, profile.Label{Key: r.name(pair[0]), Str: r.name(pair[1])})
	}
}
