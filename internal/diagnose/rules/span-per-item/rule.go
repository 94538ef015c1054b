// Package spanperitem finds loops in memory that start a tracing span for each item.
package spanperitem

import (
	"context"
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// fewest items for which one span saves most of the cost.
	fewest = 20
	// leastShare is the minimum share of its function's CPU that the span takes: what takes longer
	// than its span is worth one.
	leastShare = 0.5
	// levels is how many callers away from the function with the span the loop may be.
	levels = 3
)

// Rule is span-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "span-per-item",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Tracing span started for each item of a loop in memory",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// One span for the loop remains, of twenty and more.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 3, // what a span allocates does not matter if there is none
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A span of OpenTelemetry takes about a microsecond and a kilobyte: the sampler is
asked, the span and a context are allocated, attributes are copied, the clock is
read twice, and the end copies it all for the exporter. That is little for a query
or a call of another service. A function that looks a price up in a map takes a
hundredth of it, and a request that calls it for three hundred items makes three
hundred spans, many of which the exporter drops because its queue is full.

Start one span around the loop, and put the number of items into an attribute.
Note an item that is special as an event of that span.

It is fine where an item waits for something outside, or takes long itself: that
is what spans show. The rule reports spans in functions that a loop calls for
twenty items and more each time, where the profiles show no wait and no system
call, and where the span takes at least half of the function's CPU.

Seen in the field: open-telemetry/opentelemetry-go#5410 (40 % less throughput of a
service whose work is in memory).`

// span is a line that starts a span.
type span struct {
	place *gocode.Place
	call  *ast.CallExpr
	runs  float64 // for each unit of work
	lines *finder.Lines[span]
	used  []int // lines that use the span
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	var lines *finder.Lines[span]
	lines = finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *span {
		s := spanAt(p, place)
		if s != nil {
			s.lines = lines
		}
		return s
	})
	start := func(r *site.Row) int {
		i := lines.Nearest(r)
		if i <= 0 || r.Stack[i].Owner.Kind != gocode.Main || !slices.ContainsFunc(r.Stack[:i], tracing) {
			return -1
		}
		return i
	}
	judge := func(c *finder.Case) bool {
		s := lines.At(&c.Site.Frame)
		return s != nil && s.judge(c)
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

// spanAt returns the span that a line starts and that its function ends; nil for none.
func spanAt(p *rule.Pass, place *gocode.Place) *span {
	if place.Decl == nil || loops.Waits(place, syntax.Body(place)) {
		return nil
	}
	for _, call := range syntax.Calls(place) {
		var used []int
		if starts(place, call) {
			used = ended(place, call)
		} else {
			used = endedBy(p.Syntax, place.Outer(), call)
		}
		if len(used) == 0 {
			continue
		}
		ran, ok := evidence.ExecutionsAt(p, place, call.Lparen)
		if !ok || ran.PerUnit < fewest {
			return nil
		}
		return &span{place: place, call: call, runs: ran.PerUnit, used: used}
	}
	return nil
}

func (s *span) judge(c *finder.Case) bool {
	where, ok := s.loop(c)
	if !ok {
		return false
	}
	all, spent, waits := s.rows(c)
	if waits || all <= 0 || float64(spent) < leastShare*float64(all) {
		return false
	}
	c.Confidence = rule.Likely // who reads the traces may look at each item
	c.Cause = fmt.Sprintf("%s starts and ends a span, and %s. The spans take %s of the CPU of the function, and no item waits for anything: each span costs more than the work that it measures.",
		syntax.FuncName(s.place), where, units.Percent(float64(spent)/float64(all)))
	c.Fix = "Start one span around the loop, with the number of items as an attribute, and note special items as its events. Keep spans of their own for queries, calls of other services and whole stages of a request."
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s spans per %s", units.Number(s.runs), c.Pass.Manifest.Unit())})
	return true
}

// loop says which loop runs the line for each item.
func (s *span) loop(c *finder.Case) (where string, ok bool) {
	if loop := loops.Repeating(s.place, s.call); loop != nil {
		line := syntax.Line(s.place, loop.Pos())
		n, ok := s.items(c, &c.Site.Frame, s.place, loop)
		return fmt.Sprintf("the loop on line %d does so for each item (%s each time)", line, units.Number(n)), ok
	}
	for _, r := range slices.Concat(c.CPU, c.Allocs) {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == c.Site.Function })
		for left := levels; left > 0; {
			by, found := loops.Calling(c.Pass.Syntax, r.Stack, i, left)
			if !found {
				break
			}
			if n, ok := s.items(c, by.Frame, by.Place, by.Loop); ok {
				return fmt.Sprintf("the loop on line %d of %s calls it for each item (%s each time)", by.Line(), by.Name(), units.Number(n)), true
			}
			from := slices.Index(r.Stack, by.Frame) // it is short: look for a loop around it
			i, left = from, left-(from-i)
		}
	}
	return "", false
}

// items returns how many items a loop has each time. It reports false for few, and for a loop that
// drives the program: each of its iterations is a unit of work.
func (s *span) items(c *finder.Case, f *site.Frame, p *gocode.Place, loop ast.Node) (n float64, ok bool) {
	if d := p.Decl; loops.Waits(p, loop) || d != nil && d.Recv == nil && d.Name.Name == "main" {
		return 0, false
	}
	l, counted := c.Pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	return l.Iterations, counted && l.Iterations >= fewest
}

// rows returns the CPU of the function with the span and that of the span, and gives the rows of
// the span to the match. It reports whether the function waits or enters the kernel.
func (s *span) rows(c *finder.Case) (all, spent int64, waits bool) {
	var cpu, allocs []*site.Row
	c.Pass.EachRow(func(r *site.Row) {
		i := s.within(c, r)
		if i < 0 {
			return
		}
		all += r.Value
		waits = waits || s.waits(r.Stack[:i])
		if s.own(r.Stack[:i+1]) {
			spent += r.Value
			cpu = append(cpu, r)
		}
	})
	for _, at := range c.Pass.Table.Sites {
		waits = waits || slices.ContainsFunc(at.Block, func(r *site.Row) bool {
			i := s.within(c, r)
			return i >= 0 && !slices.ContainsFunc(r.Stack[:i], tracing) // spans wait for their own queue
		})
		for _, r := range at.Allocs {
			if i := s.within(c, r); i >= 0 && s.own(r.Stack[:i+1]) {
				allocs = append(allocs, r)
			}
		}
	}
	c.CPU, c.Allocs = cpu, allocs
	return all, spent, waits
}

// own reports whether a row, up to the frame of the function, is spent on its span and its
// attributes, not on a span that a function called by it starts.
func (s *span) own(stack []*site.Frame) bool {
	below, at := stack[:len(stack)-1], stack[len(stack)-1]
	if slices.ContainsFunc(below, func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main && s.lines.At(f) != nil }) {
		return false
	}
	if slices.ContainsFunc(below, tracing) {
		return true
	}
	return slices.Contains(s.used, at.Line) && !slices.ContainsFunc(below, func(f *site.Frame) bool { return f.Owner.Kind != gocode.Std })
}

// within returns the index of the frame of the function with the span; -1 for none.
func (s *span) within(c *finder.Case, r *site.Row) int {
	from, to := syntax.Line(s.place, s.place.Func.Pos()), syntax.Line(s.place, s.place.Func.End())
	if loop := loops.Repeating(s.place, s.call); loop != nil {
		from, to = syntax.Line(s.place, loop.Pos()), syntax.Line(s.place, loop.End())
	}
	return slices.IndexFunc(r.Stack, func(f *site.Frame) bool {
		return f.Function == c.Site.Function && f.File == c.Site.File && from <= f.Line && f.Line <= to
	})
}

// waits reports whether frames below the function wait or enter the kernel, other than for a span.
func (s *span) waits(below []*site.Frame) bool {
	return !slices.ContainsFunc(below, tracing) && slices.ContainsFunc(below, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "internal/poll.*", "syscall.*", "net.*", "os.*", "runtime.gopark", "time.Sleep", "runtime.selectgo", "runtime.chan*", "database/sql.*")
	})
}
