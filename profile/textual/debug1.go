package textual

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// This file reads what all of Go's debug=1 texts share (runtime/pprof): records of values and
// addresses, each followed by comments with labels and frames.
//
//	3 @ 0x47df4e 0x4158ee 0x4dd3a5 0x4845c1
//	# labels: {"route":"/a", "user":"u1"}
//	#	0x4dd3a4	main.wait+0x24	/src/main.go:15
//
// The runtime's frames at the leaf and runtime.goexit are among the addresses but not among the
// frames. The binary format leaves them out of heap profiles, and so does this reader if a record
// has frames.

// goRecord is one record.
type goRecord struct {
	values string   // the text before the @
	pcs    []uint64 // as written: return addresses, leaf first
	labels []profile.Label
	frames []profile.FrameSpec
	line   int
}

// stack returns the record's frames, or its addresses if no frame is named.
func (rec *goRecord) stack() []profile.FrameSpec {
	if len(rec.frames) > 0 {
		return rec.frames
	}
	stack := make([]profile.FrameSpec, 0, len(rec.pcs))
	for _, pc := range rec.pcs {
		if pc != 0 { // threadcreate pads its stacks with zeros
			// One byte before the return address is inside the call, as in pprof.
			stack = append(stack, profile.FrameSpec{Address: pc - 1})
		}
	}
	return stack
}

// goRecords calls each for every record in the rest of the text. It returns the comments that
// follow "# runtime.MemStats".
func (r *reader) goRecords(each func(*goRecord) error) (comments []string, err error) {
	var rec *goRecord
	flush := func() error {
		if rec == nil {
			return nil
		}
		if err := each(rec); err != nil {
			r.line = rec.line
			return err
		}
		rec = nil
		return nil
	}
	stats := false
	for r.nextFull() {
		text := strings.TrimSpace(r.text)
		switch {
		case text == "# runtime.MemStats":
			stats = true
		case stats && text[0] == '#':
			if !strings.HasPrefix(text, "# Pause") { // 256 numbers that no report uses
				comments = append(comments, text)
			}
		case text[0] == '#':
			if rec != nil {
				err = r.goComment(rec, text)
			}
		default:
			if err = flush(); err == nil {
				rec, err = r.goRecord(text)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return comments, flush()
}

func (r *reader) goRecord(text string) (*goRecord, error) {
	values, addresses, ok := strings.Cut(text, "@")
	if !ok {
		return nil, fmt.Errorf("%s: want VALUES @ ADDRESSES", shorten(text))
	}
	rec := &goRecord{values: strings.TrimSpace(values), line: r.line}
	for _, a := range strings.Fields(addresses) {
		pc, err := hex(a)
		if err != nil {
			return nil, fmt.Errorf("%s: want an address like 0x47df4e", shorten(a))
		}
		if rec.pcs = append(rec.pcs, pc); len(rec.pcs) > maxFrames {
			return nil, errStack
		}
	}
	return rec, nil
}

var errLabels = errors.New(`labels: want {"key":"value", ...}`)

// goComment reads the labels or the frame in a comment and ignores other comments.
func (r *reader) goComment(rec *goRecord, text string) error {
	if s, ok := strings.CutPrefix(text, "# labels: {"); ok {
		labels, rest, ok := r.quotedPairs(s)
		if !ok || rest != "" {
			return errLabels
		}
		rec.labels = labels
		return nil
	}
	fields := strings.FieldsFunc(text[1:], func(c rune) bool { return c == '\t' })
	if len(fields) == 0 || !strings.HasPrefix(fields[0], "0x") {
		return nil
	}
	var f profile.FrameSpec
	var err error
	if f.Address, err = hex(fields[0]); err != nil {
		return fmt.Errorf("%s: want an address", shorten(fields[0]))
	}
	switch len(fields) {
	case 1:
		if f.Address == 0 {
			return nil
		}
	case 3:
		name, _, _ := cutLast(fields[1], "+0x")
		var ok bool
		if f.File, f.Line, ok = r.place(fields[2]); !ok {
			return fmt.Errorf("%s: want FILE:LINE", shorten(fields[2]))
		}
		f.Function = r.name(name)
	default:
		return fmt.Errorf("%s: want # ADDRESS FUNCTION+OFFSET FILE:LINE, with tabs", shorten(text))
	}
	if rec.frames = append(rec.frames, f); len(rec.frames) > maxFrames {
		return errStack
	}
	return nil
}

func hex(s string) (uint64, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(digits, 16, 64)
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// shorten quotes s for an error.
func shorten(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// Goroutines, threads and custom profiles (pprof.NewProfile) are counts.
var countHeader = regexp.MustCompile(`^(\S+) profile: total \d+$`)

func isCount(head []string) bool { return countHeader.MatchString(strings.TrimSpace(head[0])) }

func readCount(r *reader) (*profile.Profile, error) {
	r.nextFull()
	what := profile.ValueType{Type: r.name(countHeader.FindStringSubmatch(strings.TrimSpace(r.text))[1]), Unit: "count"}
	b := profile.NewBuilder(what)
	_, err := r.goRecords(func(rec *goRecord) error {
		n, err := strconv.ParseInt(rec.values, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%s: want a count", shorten(rec.values))
		}
		b.AddLabeled(rec.stack(), rec.labels, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.PeriodType, p.Period = what, 1
	return p, nil
}
