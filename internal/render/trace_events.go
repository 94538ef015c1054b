package render

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/screen"
)

// EventFilter selects events of a trace. Its zero value selects all.
type EventFilter struct {
	Kind       *regexp.Regexp // of the event's name: GoBlock, GCBegin
	Goroutine  uint64         // that the event is about, or that caused it; 0 for all
	From, To   int64          // nanoseconds since the trace started; To 0 is the end of the trace
	Focus      *regexp.Regexp // of a function on the event's stack
	Count      int64          // largest number of events; 0 for all
	WithStacks bool           // print whole stacks, not only the blamed line
}

// TraceEvents writes events one after the other, as text or as JSON lines, so the trace can have
// any length. It is a fold.
type TraceEvents struct {
	Filter EventFilter
	JSON   bool

	w     *bufio.Writer
	enc   *json.Encoder
	shown int64
	past  bool // an event after Filter.To has come
	focus map[exectrace.StackID]bool
	err   error
}

// NewTraceEvents returns a fold that writes to w. Call Flush at the end.
func NewTraceEvents(w io.Writer, f EventFilter, asJSON bool) *TraceEvents {
	t := &TraceEvents{Filter: f, JSON: asJSON, w: bufio.NewWriterSize(w, 64<<10), focus: map[exectrace.StackID]bool{}}
	t.enc = json.NewEncoder(screen.JSON(t.w))
	t.enc.SetEscapeHTML(false)
	return t
}

// eventJSON is an event of `hone trace events -json`, one per line.
type eventJSON struct {
	Time   int64            `json:"time_ns"`
	Kind   string           `json:"kind"`
	G      uint64           `json:"goroutine,omitempty"`
	By     uint64           `json:"by,omitempty"` // the goroutine that ran, if it is another one
	P      *int32           `json:"p,omitempty"`
	Thread *uint64          `json:"thread,omitempty"`
	From   string           `json:"from,omitempty"`
	To     string           `json:"to,omitempty"`
	For    int64            `json:"for_ns,omitempty"` // time spent in From; for the end of a range, its length
	Why    string           `json:"why,omitempty"`
	Value  *uint64          `json:"value,omitempty"`
	Name   string           `json:"name,omitempty"` // of a task, region, category or label
	Text   string           `json:"text,omitempty"`
	Line   *exectrace.Line  `json:"line,omitempty"`
	Stack  []exectrace.Line `json:"stack,omitempty"`
}

// Events takes a block.
func (t *TraceEvents) Events(tr *exectrace.Trace, b *exectrace.Block) {
	for i := range b.Events {
		e := &b.Events[i]
		t.past = t.past || t.Filter.To > 0 && e.Time > t.Filter.To
		if t.Done() {
			return
		}
		if !t.wanted(tr, e) {
			continue
		}
		t.shown++
		if t.JSON {
			t.err = t.enc.Encode(t.event(tr, e))
			continue
		}
		t.line(tr, t.event(tr, e))
	}
}

// Done reports whether all requested events were written, or writing failed.
func (t *TraceEvents) Done() bool {
	return t.err != nil || t.past || t.Filter.Count > 0 && t.shown >= t.Filter.Count
}

// End does nothing: see Flush.
func (t *TraceEvents) End(*exectrace.Trace) {}

// Flush writes buffered output and returns the first error.
func (t *TraceEvents) Flush() error { return errors.Join(t.err, t.w.Flush()) }

func (t *TraceEvents) wanted(tr *exectrace.Trace, e *exectrace.Event) bool {
	f := &t.Filter
	switch {
	case e.Time < f.From:
		return false
	case f.Kind != nil && !f.Kind.MatchString(e.Kind.String()):
		return false
	case f.Goroutine != 0 && id(tr, e.G) != f.Goroutine && id(tr, e.By) != f.Goroutine:
		return false
	case f.Focus != nil && !t.onStack(tr, e.Stack):
		return false
	}
	return true
}

func (t *TraceEvents) onStack(tr *exectrace.Trace, s exectrace.StackID) bool {
	is, ok := t.focus[s]
	if !ok {
		for _, fr := range tr.Frames(s) {
			is = is || t.Filter.Focus.MatchString(fr.Func)
		}
		t.focus[s] = is
	}
	return is
}

func id(tr *exectrace.Trace, g exectrace.GIndex) uint64 {
	if info := tr.Goroutine(g); info != nil {
		return info.ID
	}
	return 0
}

func (t *TraceEvents) event(tr *exectrace.Trace, e *exectrace.Event) eventJSON {
	out := eventJSON{Time: e.Time, Kind: e.Kind.String(), G: id(tr, e.G)}
	if by := id(tr, e.By); by != out.G {
		out.By = by
	}
	if e.P >= 0 {
		out.P = &e.P
	}
	if threads := tr.Threads(); e.M >= 0 && int(e.M) < len(threads) {
		out.Thread = &threads[e.M]
	}
	if e.From != exectrace.Unknown || e.To != exectrace.Unknown {
		out.From, out.To = e.From.String(), e.To.String()
	}
	if e.Since < e.Time && e.From != exectrace.Unknown {
		out.For = e.Time - e.Since
	}
	if e.Why != exectrace.ReasonNone {
		out.Why = tr.ReasonName(e, e.Why)
	}
	switch e.Kind {
	case exectrace.HeapAlloc, exectrace.HeapGoal, exectrace.GCSweepEnd, exectrace.ProcsChange, exectrace.Sync,
		exectrace.TaskBegin, exectrace.TaskEnd, exectrace.RegionBegin, exectrace.RegionEnd, exectrace.Log:
		out.Value = &e.Value
	}
	if e.Kind >= exectrace.GoLabel && e.Kind <= exectrace.Log {
		a := tr.Annotation(e)
		out.Name, out.Text = a.Name, tr.Message(e)
	}
	if e.Stack != 0 {
		l := tr.Blame(e.Stack)
		out.Line = &l
		if t.Filter.WithStacks {
			for _, fr := range tr.Frames(e.Stack) {
				out.Stack = append(out.Stack, fr.At())
			}
		}
	}
	return out
}

// line writes an event as text.
func (t *TraceEvents) line(tr *exectrace.Trace, e eventJSON) {
	fmt.Fprintf(t.w, "%13.6fms %-18s", float64(e.Time)/1e6, screen.Line(e.Kind))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(t.w, " %s=%s", name, screen.Line(value))
		}
	}
	if e.G != 0 {
		field("g", strconv.FormatUint(e.G, 10))
	}
	if e.By != 0 {
		field("by", strconv.FormatUint(e.By, 10))
	}
	if e.P != nil {
		field("p", strconv.Itoa(int(*e.P)))
	}
	if e.From != "" {
		field("state", e.From+"→"+e.To)
	}
	if e.For > 0 {
		field("for", seconds(float64(e.For)/1e9))
	}
	if e.Value != nil {
		field("value", strconv.FormatUint(*e.Value, 10))
	}
	for _, x := range [][2]string{{"why", e.Why}, {"name", e.Name}, {"text", e.Text}} {
		if x[1] != "" {
			field(x[0], strconv.Quote(x[1]))
		}
	}
	if e.Line != nil {
		field("at", e.Line.String())
	}
	fmt.Fprintln(t.w)
	for _, l := range e.Stack {
		fmt.Fprintf(t.w, "\t%s\n\t\t%s:%d\n", screen.Line(l.Function), screen.Line(l.File), l.Line)
	}
}
