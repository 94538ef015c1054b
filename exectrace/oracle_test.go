package exectrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	exp "golang.org/x/exp/trace"

	"github.com/hone-go/hone/exectrace"
)

// seen is an event as both readers report it.
type seen struct {
	Time                 int64
	Kind, What, From, To string
	G, P, M              int64
	Reason, Name, Text   string
	Task, Parent, Value  uint64
	Stack, Other         string
}

// expReader reads a trace with golang.org/x/exp/trace.
type expReader struct {
	r     *exp.Reader
	start exp.Time
	begun bool
}

// next returns the next event that both readers have, or false at the end. x/exp alone reports a
// Sync at the end of the trace.
func (x *expReader) next() (seen, bool, error) {
	for {
		e, err := x.r.ReadEvent()
		if err == io.EOF {
			return seen{}, false, nil
		}
		if err != nil {
			return seen{}, false, err
		}
		if e.Kind() == exp.EventExperimental {
			continue
		}
		if !x.begun {
			x.begun, x.start = true, e.Time()
		}
		return x.see(e), true, nil
	}
}

func (x *expReader) see(e exp.Event) seen {
	s := seen{Time: int64(e.Time() - x.start), G: int64(e.Goroutine()), P: int64(e.Proc()), M: int64(e.Thread()), Stack: expFrames(e.Stack())}
	switch e.Kind() {
	case exp.EventSync:
		s.Kind = "sync"
	case exp.EventMetric:
		m := e.Metric()
		s.Kind, s.Value = m.Name, m.Value.Uint64()
	case exp.EventLabel:
		s.Kind, s.Name = "label", e.Label().Label
	case exp.EventStackSample:
		s.Kind = "sample"
	case exp.EventRangeBegin, exp.EventRangeActive, exp.EventRangeEnd:
		r := e.Range()
		s.Kind, s.What = e.Kind().String()+" "+r.Name, r.Scope.String()
		if e.Kind() == exp.EventRangeEnd {
			for _, a := range e.RangeAttributes() {
				if a.Name == "bytes swept" {
					s.Value = a.Value.Uint64()
				}
			}
		}
		if r.Scope.Kind == exp.ResourceProc {
			s.P = -1
		}
	case exp.EventTaskBegin, exp.EventTaskEnd:
		t := e.Task()
		s.Kind, s.Task, s.Name = e.Kind().String(), uint64(t.ID), t.Type
		if t.Parent != exp.NoTask {
			s.Parent = uint64(t.Parent)
		}
	case exp.EventRegionBegin, exp.EventRegionEnd:
		r := e.Region()
		s.Kind, s.Task, s.Name = e.Kind().String(), uint64(r.Task), r.Type
	case exp.EventLog:
		l := e.Log()
		s.Kind, s.Task, s.Name, s.Text = "log", uint64(l.Task), l.Category, l.Message
	case exp.EventStateTransition:
		x.transition(e, &s)
	}
	return s
}

func (x *expReader) transition(e exp.Event, s *seen) {
	t := e.StateTransition()
	s.Reason = t.Reason
	if t.Resource.Kind == exp.ResourceProc {
		from, to := t.Proc()
		s.Kind, s.What, s.From, s.To = "proc", fmt.Sprint("p", t.Resource.Proc()), state(from.String()), state(to.String())
		s.P = -1
		return
	}
	from, to := t.Goroutine()
	s.Kind, s.What, s.From, s.To = "go", fmt.Sprint("g", t.Resource.Goroutine()), state(from.String()), state(to.String())
	if from == exp.GoNotExist && to != exp.GoSyscall {
		s.Other = expFrames(t.Stack)
	}
	if to == exp.GoNotExist {
		s.To = "gone"
	}
	if to == exp.GoSyscall && (from == exp.GoSyscall || from == exp.GoUndetermined) {
		s.P, s.G = -1, -1 // those of the thread that reports, not of the one in the call
	}
}

// state maps the names of x/exp to ours.
func state(name string) string {
	switch name {
	case "NotExist", "Undetermined":
		return "unknown"
	}
	return strings.ToLower(name)
}

func expFrames(s exp.Stack) string {
	var b strings.Builder
	for f := range s.Frames() {
		fmt.Fprintf(&b, "%x %s %s:%d\n", f.PC, f.Func, f.File, f.Line)
	}
	return b.String()
}

// sameFold compares events of both readers as they arrive.
type sameFold struct {
	t      *testing.T
	exp    *expReader
	stacks map[exectrace.StackID]string
	n      int
	err    error // the error of x/exp
	done   bool
}

func (f *sameFold) frames(t *exectrace.Trace, s exectrace.StackID) string {
	text, ok := f.stacks[s]
	if !ok {
		var b strings.Builder
		for _, f := range t.Frames(s) {
			fmt.Fprintf(&b, "%x %s %s:%d\n", f.PC, f.Func, f.File, f.Line)
		}
		text = b.String()
		f.stacks[s] = text
	}
	return text
}

func (f *sameFold) Events(t *exectrace.Trace, b *exectrace.Block) {
	for i := range b.Events {
		e := &b.Events[i]
		if f.done {
			return
		}
		if e.Kind == exectrace.Gap {
			f.over()
			return
		}
		got := f.see(t, e)
		want, ok, err := f.exp.next()
		if err != nil || !ok {
			f.err, f.done = err, true
			if err == nil {
				f.t.Errorf("event %d: x/exp ends before %+v", f.n, got)
			}
			return
		}
		if got.Kind == "sample" && got.G < 0 {
			got.G = want.G // not alive in our table
		}
		if got != want {
			f.t.Fatalf("event %d:\n got %+v\nwant %+v", f.n, got, want)
		}
		f.n++
	}
}

func (f *sameFold) End(*exectrace.Trace) {
	if !f.done {
		f.over()
	}
}

// over reads what x/exp has after our last event, or after our first gap, from which we continue
// and it does not: at most a Sync.
func (f *sameFold) over() {
	f.done = true
	var last seen
	if last, _, f.err = f.exp.next(); f.err == nil && last.Kind == "sync" {
		last, _, f.err = f.exp.next()
	}
	if last != (seen{}) {
		f.t.Errorf("after event %d x/exp has %+v", f.n, last)
	}
}

func id(t *exectrace.Trace, g exectrace.GIndex) int64 {
	if k := t.Goroutine(g); k != nil {
		return int64(k.ID)
	}
	return -1
}

func (f *sameFold) see(t *exectrace.Trace, e *exectrace.Event) seen {
	s := seen{Time: e.Time, G: id(t, e.By), P: int64(e.P), M: -1, Stack: f.frames(t, e.Stack)}
	if e.M >= 0 {
		s.M = int64(t.Threads()[e.M])
	}
	rng := func(which, name, what string) {
		s.Kind, s.What = "Range"+which+" "+name, what
	}
	const gc, sweep, assist = "GC concurrent mark phase", "GC incremental sweep", "GC mark assist"
	goid := func() string { return fmt.Sprintf("Goroutine(%d)", id(t, e.G)) }
	pid := func() string { defer func() { s.P = -1 }(); return fmt.Sprintf("Proc(%d)", e.P) }
	a := t.Annotation(e)
	switch e.Kind {
	case exectrace.Sync:
		s.Kind = "sync"
	case exectrace.ProcsChange:
		s.Kind, s.Value = "/sched/gomaxprocs:threads", e.Value
	case exectrace.HeapAlloc:
		s.Kind, s.Value = "/memory/classes/heap/objects:bytes", e.Value
	case exectrace.HeapGoal:
		s.Kind, s.Value = "/gc/heap/goal:bytes", e.Value
	case exectrace.GoLabel:
		s.Kind, s.Name = "label", a.Name
	case exectrace.CPUSample:
		s.Kind = "sample"
	case exectrace.STWBegin:
		rng("Begin", "stop-the-world ("+t.ReasonName(e, e.Why)+")", goid())
	case exectrace.STWEnd:
		rng("End", "stop-the-world ("+t.ReasonName(e, e.Why)+")", goid())
	case exectrace.GCActive:
		rng("Active", gc, "None")
	case exectrace.GCBegin:
		rng("Begin", gc, "None")
	case exectrace.GCEnd:
		rng("End", gc, "None")
	case exectrace.GCSweepActive:
		rng("Active", sweep, pid())
	case exectrace.GCSweepBegin:
		rng("Begin", sweep, pid())
	case exectrace.GCSweepEnd:
		rng("End", sweep, pid())
		s.Value = e.Value
	case exectrace.GCMarkAssistActive:
		rng("Active", assist, goid())
	case exectrace.GCMarkAssistBegin:
		rng("Begin", assist, goid())
	case exectrace.GCMarkAssistEnd:
		rng("End", assist, goid())
	case exectrace.TaskBegin:
		s.Kind, s.Task, s.Parent, s.Name = "TaskBegin", e.Value, a.Parent, a.Name
	case exectrace.TaskEnd:
		s.Kind, s.Task, s.Parent, s.Name = "TaskEnd", e.Value, a.Parent, a.Name
	case exectrace.RegionBegin:
		s.Kind, s.Task, s.Name = "RegionBegin", e.Value, a.Name
	case exectrace.RegionEnd:
		s.Kind, s.Task, s.Name = "RegionEnd", e.Value, a.Name
	case exectrace.Log:
		s.Kind, s.Task, s.Name, s.Text = "log", e.Value, a.Name, t.Message(e)
	case exectrace.ProcStart, exectrace.ProcStop, exectrace.ProcSteal, exectrace.ProcStatus:
		s.Kind, s.What, s.P = "proc", fmt.Sprint("p", e.P), -1
		s.From, s.To = procState(e.From), procState(e.To)
	default:
		f.goroutine(t, e, &s)
	}
	return s
}

// procState: in x/exp, a processor in a system call is running.
func procState(s exectrace.State) string {
	if s == exectrace.Syscall {
		s = exectrace.Running
	}
	return s.String()
}

func (f *sameFold) goroutine(t *exectrace.Trace, e *exectrace.Event, s *seen) {
	s.Kind, s.What, s.From, s.To = "go", fmt.Sprint("g", id(t, e.G)), e.From.String(), e.To.String()
	switch e.Kind {
	case exectrace.GoStop, exectrace.GoBlock:
		s.Reason = t.ReasonName(e, e.Why)
	case exectrace.GoCreate:
		s.Other = f.frames(t, t.Goroutine(e.G).Entry)
	case exectrace.GoStatus:
		if e.To == exectrace.Syscall {
			s.P, s.G = -1, -1
		}
	}
}

// compare reads a trace with both readers. An error in one must be an error in the other.
func compare(t *testing.T, data []byte, folds ...exectrace.Fold) *exectrace.Trace {
	t.Helper()
	r, err := exp.NewReader(bytes.NewReader(data))
	if err != nil {
		if tr, ours := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}); ours == nil || tr != nil {
			t.Errorf("x/exp says %v, we say %v", err, ours)
		}
		return nil
	}
	f := &sameFold{t: t, exp: &expReader{r: r}, stacks: map[exectrace.StackID]string{}}
	tr, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, append(folds, f)...)
	var broken *exectrace.Broken
	if err != nil && !errors.As(err, &broken) {
		t.Fatal(err)
	}
	if (f.err != nil) != (broken != nil) {
		t.Errorf("we say %v, x/exp says %v", err, f.err)
	}
	return tr
}
