package roundtripperitem

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// search looks for waits in loops of one recording.
type search struct {
	pass    *rule.Pass
	written map[string]writes // by module
}

// wait is the waits of a module below one line of the program.
type wait struct {
	line    exectrace.Line
	module  string
	own     bool // the module is the program's: the line waits itself
	seconds float64
	count   int64 // of calls that waited
}

// at reports whether a line of the trace is that of the wait.
func (w *wait) at(l *exectrace.Line) bool { return l != nil && *l == w.line }

// writes are the system calls at the line of a module that writes most often.
type writes struct {
	line  string // "broker.go:1611"
	count int64
}

// written returns the writes of each module in the trace.
func written(p *rule.Pass) map[string]writes {
	found := map[string]writes{}
	for _, l := range p.Trace.Syscalls.Lines {
		at := traced.SiteAt(p, l.Line)
		if at == nil || !sends(l.Call) || l.Count <= found[at.Owner.Module].count {
			continue
		}
		found[at.Owner.Module] = writes{exectrace.Line{File: path.Base(l.Line.File), Line: l.Line.Line}.String(), l.Count}
	}
	return found
}

// sends reports whether a function of the standard library passes data to the kernel, by its name.
func sends(function string) bool {
	name := strings.ToLower(function[strings.LastIndexByte(function, '.')+1:])
	return strings.Contains(name, "write") || strings.Contains(name, "send") || strings.Contains(name, "sync")
}

// waits returns where goroutines wait for answers, longest first.
func (s *search) waits() []*wait {
	var all []*wait
	add := func(line exectrace.Line, module string, own bool, seconds float64, count int64) {
		i := slices.IndexFunc(all, func(w *wait) bool { return w.line == line && w.module == module })
		if i < 0 {
			i, all = len(all), append(all, &wait{line: line, module: module, own: own})
		}
		all[i].seconds += seconds
		all[i].count = max(all[i].count, count)
	}
	for i := range s.pass.Trace.Blocking.Waits {
		w := &s.pass.Trace.Blocking.Waits[i]
		if !forAnswer(w) {
			continue
		}
		at := traced.SiteAt(s.pass, w.Line)
		if at == nil {
			continue
		}
		if at.Owner.Kind == gocode.Main {
			add(w.Line, at.Owner.Module, true, w.Seconds, w.Count)
		}
		for _, c := range w.Callers {
			add(c.Line, at.Owner.Module, false, c.Seconds, c.Count)
		}
	}
	slices.SortStableFunc(all, func(a, b *wait) int { return cmp.Compare(b.seconds, a.seconds) })
	return all
}

// forAnswer reports whether a wait may be for an answer: not for a lock, a timer, or the collector.
func forAnswer(w *wall.Wait) bool {
	switch w.Reason {
	case "network", "select", "chan receive":
		return w.Object == ""
	}
	return w.Object == "cond"
}
