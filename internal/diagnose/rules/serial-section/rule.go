// Package serialsection finds loops that keep one processor busy while the others are idle.
package serialsection

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastGain is the minimum share of the program's time that splitting a loop must be able to
	// save.
	leastGain = 0.1
	// mostlySerial is the minimum share of the time with one goroutine running that makes a hint
	// about other serial work.
	mostlySerial = 0.5
	// untraced is the saving relative to what the trace of another run allowed: examples/mandelbrot
	// saved up to 1.02. The reason was not examined.
	untraced = 1.03
	// longSerial is the minimum share of the time of one line or loop in such a hint.
	longSerial = 0.3
)

// fraction of what perfect sharing would save (Amdahl's law). Shares are never even and memory is
// shared: 0.83 on the 12 cores of the workshop that the documentation below cites, 0.98 to 1.02 on
// two cores in examples/mandelbrot.
var fraction = rule.Fraction{Expect: 0.95, Low: 0.83, High: 1}

// Rule is serial-section.
func Rule() rule.Rule {
	return rule.Rule{
		ID:              "serial-section",
		Kind:            rule.Sched,
		SkipsBenchmarks: true,
		Needs:           []rule.Need{rule.NeedTrace},
		Title:           "A loop keeps one core busy while the others are idle",
		Doc:             doc,
		Finder:          finder.Trace{Judge: find},
	}
}

const doc = `When one goroutine runs and no other is ready, the program takes as long as that
goroutine does, however many cores there are. CPU profiles cannot show this: the
same work on eight cores has the same profile. The execution trace can.

If the iterations of a loop are independent, split it: start as many goroutines
as there are cores, each with a range of iterations that takes at least 10 µs,
and wait for them with a sync.WaitGroup or an errgroup. On P cores the loop
takes 1/P of its time at best.

The rule advises this only if the iterations, and the functions of the package
that they call, visibly write only their own variables and elements that the
loop's variable selects. Other serial work it reports as a hint, because its
order may matter.

It is fine when the order matters, when the program shares the machine with
others that need the cores, and in a service, where requests run in parallel.

Seen in the field: "High Performance Go Workshop" (Cheney), where drawing a
fractal with a goroutine per row took 0.46 s instead of 1.96 s on 12 cores.`

func find(p *rule.Pass) []rule.Match {
	if traced.Serves(p) || traced.Procs(p) <= 1 {
		return nil
	}
	length := p.Trace.Parallelism.Length
	gain := 1 - 1/traced.Procs(p)
	var matches []rule.Match
	sections, rest := sections(p)
	for _, s := range sections {
		if s.seconds*gain >= leastGain*length {
			matches = append(matches, s.match(p))
		}
	}
	if len(matches) == 0 && p.Trace.Parallelism.Serial.Share >= mostlySerial {
		for _, s := range rest[:min(1, len(rest))] {
			if s.seconds >= longSerial*length {
				matches = append(matches, s.match(p))
			}
		}
	}
	return matches
}

// section is serial time in one loop, or on one line outside all loops.
type section struct {
	loop    ast.Node // nil outside loops
	place   *gocode.Place
	why     string // why the iterations are not visibly independent; "" when they are
	seconds float64
	count   int64
	lines   map[exectrace.Line]float64 // name of the loop's function
}

// sections sums serial time by the outermost loop whose iterations are independent; without one, by
// the outermost loop or else by the line. Longest first.
func sections(p *rule.Pass) (split, rest []*section) {
	w := walk{Pass: p, loops: map[ast.Node]*section{}, lines: map[exectrace.Line]*section{}}
	for _, st := range p.Trace.Parallelism.Serial.Stacks {
		s, line := w.of(st.Frames)
		if s == nil {
			continue
		}
		s.seconds += st.Seconds
		s.count += st.Count
		s.lines[line] += st.Seconds
	}
	for _, s := range w.loops {
		if s.why == "" {
			split = append(split, s)
		} else {
			rest = append(rest, s)
		}
	}
	for _, s := range w.lines {
		rest = append(rest, s)
	}
	for _, list := range [][]*section{split, rest} {
		slices.SortFunc(list, func(a, b *section) int {
			return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.main().File, b.main().File), cmp.Compare(a.main().Line, b.main().Line))
		})
	}
	return split, rest
}

// main returns the line of a section that takes most of its time.
func (s *section) main() exectrace.Line {
	var best exectrace.Line
	for l, sec := range s.lines {
		if best.File == "" || sec > s.lines[best] || sec == s.lines[best] && l.Line < best.Line {
			best = l
		}
	}
	return best
}

// walk finds loops in stacks.
type walk struct {
	*rule.Pass
	loops map[ast.Node]*section
	lines map[exectrace.Line]*section
}

// of returns the section of a stack, and the line of the stack that is in it; nil when no line
// belongs to a module.
func (w *walk) of(frames []exectrace.Frame) (*section, exectrace.Line) {
	var outer *section
	var outerLine, leaf exectrace.Line
	for i := len(frames) - 1; i >= 0; i-- {
		line := frames[i].At()
		s := traced.SiteAt(w.Pass, line)
		if s == nil {
			continue
		}
		leaf = line
		place := w.Place(s)
		if place == nil {
			continue
		}
		if shared(place) {
			return nil, line
		}
		for _, loop := range around(place) {
			found := w.section(place, loop)
			if found.why == "" {
				return found, line
			}
			if outer == nil {
				outer, outerLine = found, line
			}
		}
	}
	if outer != nil {
		return outer, outerLine
	}
	if leaf.File == "" {
		return nil, leaf
	}
	s := w.lines[leaf]
	if s == nil {
		s = &section{why: "it is in no visible loop", lines: map[exectrace.Line]float64{}}
		w.lines[leaf] = s
	}
	return s, leaf
}

// shared reports whether a line is in a function literal that a loop starts as goroutines: it runs
// alone only when the others are done before it.
func shared(place *gocode.Place) bool {
	lit, ok := place.Func.(*ast.FuncLit)
	if !ok {
		return false
	}
	started := false
	for _, n := range place.Outer().Enclosing(lit) {
		switch n := n.(type) {
		case *ast.GoStmt:
			started = true
		case *ast.CallExpr:
			started = started || funcname.Match(place.CalleeName(n), "(*sync.WaitGroup).Go", "(*golang.org/x/sync/errgroup.Group).Go")
		case *ast.ForStmt, *ast.RangeStmt:
			if started {
				return true
			}
		}
	}
	return false
}

// around returns the loops around a line in its function, outermost first.
func around(place *gocode.Place) []ast.Node {
	var loops []ast.Node
	for loop := place.Loop(); loop != nil; loop = place.LoopAround(loop) {
		loops = append(loops, loop)
	}
	slices.Reverse(loops)
	return loops
}

func (w *walk) section(place *gocode.Place, loop ast.Node) *section {
	s := w.loops[loop]
	if s == nil {
		s = &section{loop: loop, place: place, lines: map[exectrace.Line]float64{}}
		_, s.why = effects.Independent(place, loop)
		w.loops[loop] = s
	}
	return s
}

func (s *section) match(p *rule.Pass) rule.Match {
	length, procs := p.Trace.Parallelism.Length, traced.Procs(p)
	site := traced.SiteAt(p, s.main())
	gain := s.seconds * (1 - 1/procs)
	idle := "the other core was"
	if procs > 2 {
		idle = fmt.Sprintf("the other %s cores were", units.Number(procs-1))
	}
	m := rule.Match{
		Site:       site,
		Confidence: rule.Likely, // trace and syntax
		Saving:     &rule.Saving{Seconds: fraction.Expect * gain, Low: fraction.Low * gain, High: untraced * fraction.High * gain, Latency: length, Cost: s.seconds},
		Evidence: []rule.Evidence{
			{What: "one goroutine ran here and none was ready", Value: fmt.Sprintf("%s of %s (%s)", units.Seconds(s.seconds), units.Seconds(length), units.Percent(s.seconds/length)), Command: evidence.ViewCommand(p, "parallelism")},
			{What: "goroutines of the program running, mean", Value: fmt.Sprintf("%s of %s processors", units.Number(p.Trace.Parallelism.MeanRunning), units.Number(procs))},
		},
	}
	if s.why == "" {
		head := syntax.Line(s.place, s.loop.Pos())
		m.Cause = fmt.Sprintf("One goroutine works through the loop on line %d while %s idle: %s of the program's %s. Its iterations are independent, as far as the code shows.",
			head, idle, units.Seconds(s.seconds), units.Seconds(length))
		m.Fix = fmt.Sprintf("Split the loop on line %d into ranges of iterations, one for each of as many goroutines as there are cores (runtime.GOMAXPROCS(0)), and wait for them with a sync.WaitGroup. Start one goroutine per iteration only if an iteration takes 10 µs or more.", head)
		return m
	}
	m.Confidence = rule.Hint
	m.Saving.Low = 0.25 * gain // a hint may save nothing
	m.Saving.Seconds = 0.6 * gain
	if s.loop == nil {
		m.Cause = fmt.Sprintf("One goroutine ran alone for %s of the program's time while %s idle, longest under this line, which is not in a loop that could run in parallel.", units.Percent(p.Trace.Parallelism.Serial.Share), idle)
		m.Fix = "Run parts of this work in goroutines of their own if they do not need each other's results; if each step needs the previous one, only less work helps."
		return m
	}
	m.Cause = fmt.Sprintf("One goroutine ran alone for %s of the program's time while %s idle, longest in the loop on line %d. The code does not show whether its iterations could run in parallel: %s.",
		units.Percent(p.Trace.Parallelism.Serial.Share), idle, syntax.Line(s.place, s.loop.Pos()), s.why)
	m.Fix = "Split the iterations between as many goroutines as there are cores if they do not need each other's results; a sum can be kept per goroutine and added up at the end. If each iteration needs the previous one, only less work helps."
	return m
}
