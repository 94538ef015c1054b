package textual

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile"
)

// The output of `perf script`: a header for each sample and, if stacks were recorded, one frame per
// line, leaf first, up to an empty line.
//
//	server 12784/12790 [001]  5185.482545:   10101010 cpu-clock:
//		           9e171 main.leaf+0x31 (/usr/bin/server)
//		           9e213 main.inl+0x13 (inlined)
//		           9e213 main.main+0x13 (/usr/bin/server)
//
// Without stacks the frame is in the header's line. With -F +srcline a line FILE:LINE follows each
// frame.
var perfHeader = regexp.MustCompile(`^\s*(\S.*?)\s+(\d+)(?:/(\d+))?\s+(?:\[\d+\]\s+)?(?:[\w.]{4,8}\s+)?\d+\.\d+:\s+(?:(\d+)\s+)?(\S+):(?:\s+(\S.*))?$`)

func isPerf(head []string) bool {
	for _, line := range head {
		if line != "" && line[0] != '#' { // perf writes comments about the recording
			return perfHeader.MatchString(line)
		}
	}
	return false
}

// readPerf produces two values for each event: EVENT_sample counts the samples, EVENT_event sums
// their periods, which are nanoseconds for clocks. Samples have the labels comm and tid, and pid if
// it is known.
func readPerf(r *reader) (*profile.Profile, error) {
	p := &perfReader{reader: r, b: profile.NewBuilder(), events: map[string]int{}}
	for r.nextFull() {
		if r.text[0] == '#' {
			continue
		}
		if err := p.sample(); err != nil {
			return nil, err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	out, err := p.b.Profile()
	if err != nil {
		return nil, err
	}
	out.PeriodType, out.DefaultSampleType = out.SampleTypes[1], out.SampleTypes[1].Type
	return profile.Merge(out) // equal samples become one row
}

type perfReader struct {
	*reader
	b      *profile.Builder
	events map[string]int // index of the event's first value
	values []int64
	stack  []profile.FrameSpec
}

func (p *perfReader) sample() error {
	m := perfHeader.FindStringSubmatch(p.text)
	if m == nil {
		return fmt.Errorf("%s: want COMM PID TIME: PERIOD EVENT: [FRAME]", shorten(p.text))
	}
	comm, periodText, event, rest := m[1], m[4], m[5], m[6]
	labels, err := threadLabels(m[2], m[3])
	if err != nil {
		return err
	}
	labels = append(labels, profile.Label{Key: "comm", Str: p.name(comm)})
	period := int64(1)
	if periodText != "" {
		if period, err = strconv.ParseInt(periodText, 10, 64); err != nil {
			return fmt.Errorf("period: %w", err)
		}
	}
	at, err := p.event(event)
	if err != nil {
		return err
	}
	p.stack = p.stack[:0]
	if rest == "" {
		err = p.frames()
	} else if f, ok := p.frame(rest); ok { // otherwise the line has a tracepoint's fields
		p.stack = append(p.stack, f)
	}
	if err != nil {
		return err
	}
	closeInlined(p.stack)
	clear(p.values)
	p.values[at], p.values[at+1] = 1, period
	p.b.AddLabeled(p.stack, labels, p.values...)
	return nil
}

// threadLabels reads "12790" or "12784/12790": by default perf prints only the thread's id.
func threadLabels(first, second string) ([]profile.Label, error) {
	var labels []profile.Label
	if second != "" {
		pid, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("pid: %w", err)
		}
		labels, first = append(labels, profile.Label{Key: "pid", Num: pid}), second
	}
	tid, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("tid: %w", err)
	}
	return append(labels, profile.Label{Key: "tid", Num: tid}), nil
}

// maxEvents bounds the number of different events, each of which is two columns.
const maxEvents = 64

// event returns the index of an event's first value. Modifiers like ":u" do not change the unit.
func (p *perfReader) event(name string) (int, error) {
	if at, ok := p.events[name]; ok {
		return at, nil
	}
	if len(p.events) == maxEvents {
		return 0, fmt.Errorf("more than %d different events", maxEvents)
	}
	name = strings.Clone(name)
	unit := "count"
	if base, _, _ := strings.Cut(name, ":"); base == "cpu-clock" || base == "task-clock" {
		unit = "nanoseconds"
	}
	at := p.b.AddType(profile.ValueType{Type: name + "_sample", Unit: "count"})
	p.b.AddType(profile.ValueType{Type: name + "_event", Unit: unit})
	p.events[name] = at
	p.values = append(p.values, 0, 0)
	return at, nil
}

// frames reads the stack that follows a header.
func (p *perfReader) frames() error {
	for p.next() && p.text != "" {
		f, ok := p.frame(p.text)
		if !ok {
			if perfHeader.MatchString(p.text) { // a sample without stack
				p.back()
				return nil
			}
			file, line, isPlace := p.place(strings.TrimSpace(p.text))
			if !isPlace || len(p.stack) == 0 {
				return fmt.Errorf("%s: want ADDRESS SYMBOL (FILE)", shorten(p.text))
			}
			if last := &p.stack[len(p.stack)-1]; line > 0 {
				last.File, last.Line = file, line
			}
			continue
		}
		if p.stack = append(p.stack, f); len(p.stack) > maxFrames {
			return errStack
		}
	}
	return nil
}

// frame reads "9e171 main.leaf+0x31 (/usr/bin/server)".
func (p *perfReader) frame(s string) (profile.FrameSpec, bool) {
	addr, rest, ok := strings.Cut(strings.TrimSpace(s), " ")
	pc, err := strconv.ParseUint(addr, 16, 64)
	if !ok || err != nil || !strings.HasSuffix(rest, ")") {
		return profile.FrameSpec{}, false
	}
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, ")"), " (deleted)")
	symbol, binary, ok := cutLast(rest, "(")
	if !ok {
		return profile.FrameSpec{}, false
	}
	symbol = strings.TrimSpace(symbol)
	symbol, _, _ = cutLast(symbol, "+0x")
	f := profile.FrameSpec{Address: pc, Inlined: binary == "inlined"}
	if symbol != "" && symbol != "[unknown]" {
		f.Function = p.name(symbol)
	}
	if !f.Inlined && binary != "[unknown]" {
		f.Binary = p.name(binary)
	}
	return f, true
}
