package textual

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// A dump of goroutines, as debug=2, a panic and SIGQUIT write it (runtime/traceback.go):
//
//	goroutine 22 [chan receive, 5 minutes, locked to thread]:
//	main.(*Box[...]).Wait(...)
//		/src/main.go:15
//	main.main.func2({0x51afa8?, 0x80946698150?})
//		/src/main.go:58 +0x25
//	created by main.main in goroutine 1
//		/src/main.go:58 +0x1f5

// Goroutine is a goroutine of a dump.
type Goroutine struct {
	ID             uint64
	State          string // "running", "chan receive", "IO wait", …
	WaitMinutes    int64  // whole minutes, 0 for less than one or when it does not wait
	LockedToThread bool
	Creator        string          // function with the go statement; "" for the main goroutine
	CreatorFile    string          // where the go statement is
	CreatorLine    int64           // 0 when unknown
	CreatorID      uint64          // goroutine that ran it; 0 when unknown
	Labels         []profile.Label // only with GODEBUG=tracebacklabels=1
	// Stack is leaf first. Frames that the runtime elided are one frame named [frames elided].
	Stack []profile.FrameSpec
}

// labels returns the goroutine's own labels and what the dump says in addition to the stack: state,
// wait (in minutes), creator, and thread if the goroutine is locked to its thread.
func (g *Goroutine) labels() []profile.Label {
	l := append([]profile.Label{}, g.Labels...)
	if g.State != "" {
		l = append(l, profile.Label{Key: "state", Str: g.State})
	}
	if g.Creator != "" {
		l = append(l, profile.Label{Key: "creator", Str: g.Creator})
	}
	if g.LockedToThread {
		l = append(l, profile.Label{Key: "thread", Str: "locked"})
	}
	if g.WaitMinutes > 0 {
		l = append(l, profile.Label{Key: "wait", Num: g.WaitMinutes, Unit: "minutes"})
	}
	return l
}

var dumpHeader = regexp.MustCompile(`^goroutine (\d+) (?:[^\[]*)\[(.*)\]:$`)

func isDump(head []string) bool {
	for i, line := range head {
		if dumpHeader.MatchString(line) {
			return i == 0 || isCrash(head[:i])
		}
	}
	return false
}

// isCrash reports whether lines are what a Go program prints before the dump when it crashes.
func isCrash(lines []string) bool {
	for _, line := range lines {
		for _, prefix := range []string{"panic: ", "fatal error: ", "SIGQUIT: ", "SIGABRT: ", "runtime: "} {
			if strings.HasPrefix(line, prefix) {
				return true
			}
		}
	}
	return false
}

// readDump counts the goroutines with the same stack and labels. Their ids are dropped.
func readDump(r *reader) (*profile.Profile, error) {
	what := profile.ValueType{Type: "goroutine", Unit: "count"}
	b := profile.NewBuilder(what)
	err := r.goroutines(func(g *Goroutine) bool { b.AddLabeled(g.Stack, g.labels(), 1); return true })
	if err != nil {
		return nil, err
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.PeriodType, p.Period = what, 1
	return profile.Merge(p)
}

// Goroutines reads a dump, which may be compressed with gzip or zstd, of at most maxBytes after
// decompression (0 = profile.DefaultMaxBytes).
func Goroutines(in io.Reader, maxBytes int64) ([]Goroutine, error) {
	var all []Goroutine
	for g, err := range EachGoroutine(in, maxBytes) {
		if err != nil {
			return nil, err
		}
		one := *g
		one.Stack = append([]profile.FrameSpec{}, g.Stack...)
		all = append(all, one)
	}
	return all, nil
}

// EachGoroutine returns the goroutines of a dump one by one. Each is valid until the next. If the
// dump cannot be read to its end, the last pair has the error and no goroutine.
func EachGoroutine(in io.Reader, maxBytes int64) iter.Seq2[*Goroutine, error] {
	return func(yield func(*Goroutine, error) bool) {
		z, err := profile.Inflate(in, maxBytes)
		if err != nil {
			yield(nil, err)
			return
		}
		defer z.Close()
		r := newReader(z)
		more := true
		err = r.goroutines(func(g *Goroutine) bool {
			more = yield(g, nil)
			return more
		})
		if r.err != nil {
			err = r.err
		}
		if err != nil && more {
			yield(nil, fmt.Errorf("goroutine dump, line %d: %w", r.line, err))
		}
	}
}

// goroutines calls each for every goroutine, until each returns false. A goroutine is valid until
// each returns. Text between goroutines is ignored: crashes print reasons and registers there.
func (r *reader) goroutines(each func(*Goroutine) bool) error {
	var g Goroutine
	for r.nextFull() {
		m := dumpHeader.FindStringSubmatch(r.text)
		if m == nil {
			continue
		}
		g = Goroutine{Stack: g.Stack[:0]}
		var err error
		if g.ID, err = strconv.ParseUint(m[1], 10, 64); err != nil {
			return fmt.Errorf("goroutine id: %w", err)
		}
		if err := r.dumpStatus(&g, m[2]); err != nil {
			return err
		}
		if err := r.dumpStack(&g); err != nil {
			return err
		}
		if !each(&g) {
			return nil
		}
	}
	return nil
}

// dumpStatus reads what is in the brackets of a goroutine's first line.
func (r *reader) dumpStatus(g *Goroutine, s string) error {
	if before, quoted, ok := strings.Cut(s, " labels:{"); ok {
		labels, rest, ok := r.quotedPairs(quoted)
		if !ok || rest != "" {
			return errLabels
		}
		s, g.Labels = before, labels
	}
	for i, part := range strings.Split(s, ", ") {
		minutes, isWait := strings.CutSuffix(part, " minutes")
		switch {
		case i == 0:
			g.State = r.name(strings.TrimSuffix(part, " (scan)")) // the garbage collector is scanning its stack
		case part == "locked to thread":
			g.LockedToThread = true
		case isWait:
			n, err := strconv.ParseInt(minutes, 10, 64)
			if err != nil || n < 0 {
				return fmt.Errorf("%s: want a number of minutes", shorten(part))
			}
			g.WaitMinutes = n
		}
	}
	return nil
}

var errNoPlace = errors.New("want a line with FILE:LINE after a function")

// dumpStack reads the calls of a goroutine, up to an empty line, the next goroutine or the end.
func (r *reader) dumpStack(g *Goroutine) error {
	for r.next() && r.text != "" {
		if dumpHeader.MatchString(r.text) {
			r.back()
			break
		}
		switch creator, created := strings.CutPrefix(r.text, "created by "); {
		case created:
			creator, id, _ := strings.Cut(creator, " in goroutine ")
			g.Creator = r.name(creator)
			g.CreatorID, _ = strconv.ParseUint(id, 10, 64)
			var ok bool
			if g.CreatorFile, g.CreatorLine, ok = r.dumpPlace(); !ok {
				return errNoPlace
			}
			r.dumpRest()
			closeInlined(g.Stack)
			return nil
		case strings.HasPrefix(r.text, "...") && strings.HasSuffix(r.text, "frames elided..."):
			closeInlined(g.Stack)
			g.Stack = append(g.Stack, profile.FrameSpec{Function: "[frames elided]"})
		case strings.HasPrefix(r.text, "\t"): // "goroutine running on other thread; stack unavailable"
		default:
			if err := r.dumpFrame(g); err != nil {
				return err
			}
		}
	}
	closeInlined(g.Stack)
	return nil
}

// dumpRest skips what may follow the creator of a goroutine: its ancestors.
func (r *reader) dumpRest() {
	for r.next() && r.text != "" {
		if dumpHeader.MatchString(r.text) {
			r.back()
			return
		}
	}
}

// dumpFrame reads a call and its position. The arguments are dropped; "(...)" in their place is the
// runtime's mark of an inlined call.
func (r *reader) dumpFrame(g *Goroutine) error {
	name, inlined := strings.CutSuffix(r.text, "(...)")
	if !inlined {
		i := strings.LastIndexByte(name, '(')
		if i <= 0 || name[len(name)-1] != ')' {
			if dumpNoise(r.text) {
				return nil
			}
			return fmt.Errorf("%s: want FUNCTION(ARGUMENTS)", shorten(r.text))
		}
		name = name[:i]
	}
	f := profile.FrameSpec{Function: r.name(name), Inlined: inlined}
	var ok bool
	if f.File, f.Line, ok = r.dumpPlace(); !ok {
		return errNoPlace
	}
	if g.Stack = append(g.Stack, f); len(g.Stack) > maxFrames {
		return errStack
	}
	return nil
}

// dumpNoise reports whether a line is one that crashes print inside a goroutine.
func dumpNoise(line string) bool {
	for _, prefix := range []string{"[signal ", "runtime: ", "exit status "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// dumpPlace reads "\t/src/main.go:58 +0x25", which " fp=… sp=… pc=…" follows in a crash.
func (r *reader) dumpPlace() (file string, line int64, ok bool) {
	if !r.next() || !strings.HasPrefix(r.text, "\t") {
		return "", 0, false
	}
	s := r.text[1:]
	s, _, _ = cutLast(s, " fp=0x")
	s, _, _ = cutLast(s, " +0x")
	return r.place(s)
}

// closeInlined clears the mark of inlining of the last frame: the frame that it was inlined into is
// unknown.
func closeInlined(stack []profile.FrameSpec) {
	if n := len(stack); n > 0 {
		stack[n-1].Inlined = false
	}
}
