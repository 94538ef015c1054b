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

// reader reads a text line by line.
type reader struct {
	s     *bufio.Scanner
	text  string // the current line
	line  int    // its number, from 1
	err   error  // why reading stopped; nil at the end of the text
	again bool   // next returns the same line again
	names map[string]string
}

func newReader(r io.Reader) *reader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &reader{s: s, names: map[string]string{}}
}

// next advances to the next line. text does not include the line end or spaces before it.
func (r *reader) next() bool {
	if r.again {
		r.again = false
		return true
	}
	if r.err != nil {
		return false
	}
	if !r.s.Scan() || r.s.Err() != nil { // after an error the line may be incomplete
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

// back makes next return the current line again.
func (r *reader) back() { r.again = true }

// nextFull advances to the next line that is not empty.
func (r *reader) nextFull() bool {
	for r.next() {
		if r.text != "" {
			return true
		}
	}
	return false
}

// name returns a copy of s from the table of names: a name that occurs on many lines is stored
// once, and the copy does not keep a line in memory.
func (r *reader) name(s string) string {
	if n, ok := r.names[s]; ok {
		return n
	}
	s = strings.Clone(s)
	r.names[s] = s
	return s
}

// place splits "dir/file.go:12" into file and line.
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

// quotedPairs reads `"k":"v", "k2":"v2"` up to a closing brace, the format in which the runtime and
// runtime/pprof write labels, and returns the text after the brace.
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
