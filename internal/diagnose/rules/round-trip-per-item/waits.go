package roundtripperitem

import (
	"cmp"
	"go/ast"
	"go/types"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
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
	own     bool           // the module is the program's: the line waits itself
	fetches bool           // it does so in a function that returns a value for a key
	below   exectrace.Line // the line that waits longest
	longest float64        // of it
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
	add := func(line exectrace.Line, module string, below exectrace.Line, seconds float64, count int64) {
		i := slices.IndexFunc(all, func(w *wait) bool { return w.line == line && w.module == module })
		if i < 0 {
			i, all = len(all), append(all, &wait{line: line, module: module, own: line == below})
		}
		if seconds > all[i].longest {
			all[i].below, all[i].longest = below, seconds
		}
		all[i].seconds += seconds
		all[i].count = max(all[i].count, count)
	}
	for i := range s.pass.Trace.Blocking.Waits {
		w := &s.pass.Trace.Blocking.Waits[i]
		at := traced.SiteAt(s.pass, w.Line)
		if at == nil {
			continue
		}
		own := at.Owner.Kind == gocode.Main
		fetches := own && s.fetches(w.Line)
		if !forAnswer(w) && !(fetches && w.Reason == "sleep") {
			continue
		}
		if own {
			add(w.Line, at.Owner.Module, w.Line, w.Seconds, w.Count)
			all[len(all)-1].fetches = fetches
		}
		for _, c := range w.Callers {
			add(c.Line, at.Owner.Module, w.Line, c.Seconds, c.Count)
		}
	}
	slices.SortStableFunc(all, func(a, b *wait) int { return cmp.Compare(b.seconds, a.seconds) })
	return all
}

// fetches reports whether a line waits in a function of the program that returns a value for a key,
// by its parameters and results: what it waits for may be its own affair, such as the answer of a
// device or of a goroutine. The name must not be one of a function that waits for its turn, nor the
// pause one before another attempt or for a rate.
func (s *search) fetches(line exectrace.Line) bool {
	place, ok := s.pass.Syntax.At(line.File, line.Line)
	if !ok || place.Decl == nil || place.Func != ast.Node(place.Decl) {
		return false
	}
	fn, ok := place.Info.Defs[place.Decl.Name].(*types.Func)
	if !ok || awaited.ReturnsNothing(fn) || slices.ContainsFunc(awaited.Words(fn.Name()), turn) {
		return false
	}
	for v := range fn.Signature().Params().Variables() {
		if keyed(v.Type()) {
			return !paces(place)
		}
	}
	return false
}

// turn reports whether a word in a name says that a function waits for its turn, or for what comes.
func turn(word string) bool {
	return slices.Contains([]string{
		"acquire", "admit", "allow", "await", "backoff", "borrow", "checkout", "consume", "cooldown", "dequeue", "delay", "enter",
		"interval", "jitter", "limit", "listen", "lock", "next", "pace", "poll", "pop", "rate", "receive", "recv", "reserve", "retry", "sleep",
		"subscribe", "take", "throttle", "until", "wait",
	}, word)
}

// keyed reports whether a parameter may say what is asked for: a text, or a struct with one.
func keyed(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Struct:
		for f := range t.Fields() {
			if b, ok := f.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
				return true
			}
		}
	}
	return false
}

// parallel returns how many goroutines of a program that exits wait at the same time, at most:
// those of the loop's function if it was started as goroutines, or else those that wait there for
// as long as the loop does, as far as the trace shows.
func (s *search) parallel(w *wait, l *loop) float64 {
	if s.pass.Trace.Goroutines == nil {
		return 1
	}
	function := syntax.ProfileName(l.place)
	var waiting *wall.Group
	nearest := math.Inf(1)
	for i := range s.pass.Trace.Goroutines.Groups {
		g := &s.pass.Trace.Goroutines.Groups[i]
		if name := traced.Generic(g.Function); name == function || strings.HasPrefix(name, function+".func") {
			return alive(g, s.pass.Trace.Parallelism.Length)
		}
		for _, at := range g.Stacks {
			if d := math.Abs(at.Seconds - w.longest); at.Line == w.below && d < nearest {
				waiting, nearest = g, d
			}
		}
	}
	if waiting == nil {
		return 1
	}
	return alive(waiting, s.pass.Trace.Parallelism.Length)
}

// mostWorkers is the largest number of goroutines that may be workers, which live at the same time.
const mostWorkers = 64

// alive returns how many goroutines of a group live at the same time.
func alive(g *wall.Group, length float64) float64 {
	if n := float64(g.Found + g.Created); n <= mostWorkers {
		return max(1, n)
	}
	return max(1, g.Seconds/length)
}

// forAnswer reports whether a wait may be for an answer: not for a lock, a timer, or the collector.
func forAnswer(w *wall.Wait) bool {
	switch w.Reason {
	case "network", "select", "chan receive":
		return w.Object == ""
	}
	return w.Object == "cond"
}
