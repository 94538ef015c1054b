// Package costlyline names the lines that cost much and that no other rule explains.
package costlyline

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is costly-line.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "costly-line",
		Kind:    rule.CPU,
		Title:   "Expensive line",
		Doc:     doc,
		Generic: true,
		Finder: finder.Patterns{
			Claim:   rule.Claim{Specificity: -100},
			Prepare: prepare,
		},
	}
}

const doc = `A line of the program or of a dependency takes much of the CPU, allocates much
of the garbage, or causes much waiting, and no other rule explains it. The
finding shows how often the line runs, what one execution costs, its callees, how
many different inputs they get, and why its memory is on the heap according to
the compiler. It promises no saving, because none is known.

It is fine when the work must be done, which is the usual case: every program
has a most expensive line. Check whether the work is needed, needed this often,
and needed on this path.

Seen in the field: the costs that remain in "Profiling and optimizing Go web
applications" (artem.krylysov.com, 2017) when all known mistakes are fixed:
formatting and hashing that the service is there to do.`

// least is the share of all CPU, bytes or waiting below which a line is ignored.
// The engine's floor is for whole functions, to which such lines add up.
const least = 0.001

// prepare returns a line that matches all lines that cost enough, with and without source.
func prepare(p *rule.Pass) []finder.Line {
	return []finder.Line{{
		Start: finder.Sites(func(s *site.Site) rule.Match {
			if s.Owner.Kind != gocode.Main && s.Owner.Kind != gocode.Dependency || !worth(s.Cost, &p.Table.Totals) {
				return rule.Match{Site: s}
			}
			return rule.Match{Site: s, CPU: s.CPU, Allocs: s.Allocs, Mutex: s.Mutex, Kind: kind(s.Cost)}
		}),
		Judge:  func(c *finder.Case) bool { describe(p, c.Match); return true },
		Unseen: describe,
	}}
}

// describe fills in what is known about a line. It is a hint: no mistake is known.
func describe(p *rule.Pass, m *rule.Match) {
	s := m.Site
	m.Confidence = rule.Hint
	m.Cause = cause(p, s)
	m.Fix = fmt.Sprintf("%s `%s` shows the line's callers, its callees and what the compiler says.", advice(p, s), evidence.WhyCommand(p, s))
	if words := evidence.Runs(p, s.Frame, s.Cost); words != "" {
		m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: words})
	}
	if words := evidence.Split(s); words != "" {
		m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.CalleesMeasured, Value: words})
	}
	if words := evidence.Inputs(p, s); words != "" {
		m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: words})
	}
	if words := evidence.EscapeReasons(p, s); len(words) > 0 {
		m.Evidence = append(m.Evidence, rule.Evidence{
			What:    evidence.CompilerSaid,
			Value:   strings.Join(words, "; "),
			Command: "go build -gcflags=-m=2 " + s.Owner.Package,
		})
	}
}

// worth reports whether a line's cost may matter.
func worth(c site.Cost, t *site.Totals) bool {
	over := func(part, all float64) bool { return part > 0 && part >= least*all }
	return over(c.CPUSeconds+c.GCSeconds, t.TotalSeconds) ||
		over(float64(c.AllocBytes), float64(t.AllocBytes)) ||
		over(c.MutexSeconds, t.MutexSeconds)
}

// kind returns the kind of most of the line's cost.
func kind(c site.Cost) rule.Kind {
	switch busy := c.CPUSeconds + c.GCSeconds; {
	case busy == 0 && c.MutexSeconds > 0:
		return rule.Lock
	case c.AllocBytes > 0 && 2*(c.MallocSeconds+c.GCSeconds) >= busy:
		return rule.Alloc
	}
	return rule.CPU
}

// cause describes a line in two sentences: how often it runs, what one execution costs and which
// calls take it; then the inputs of its callees, and why its memory is on the heap.
func cause(p *rule.Pass, s *site.Site) string {
	line := "The line"
	if s.Owner.Kind == gocode.Dependency {
		line += " of " + strings.TrimSpace(s.Owner.Module+" "+s.Owner.Version)
	}
	var first []string
	if words := evidence.Runs(p, s.Frame, s.Cost); words != "" {
		first = append(first, line+" "+words)
	} else if line != "The line" {
		first = append(first, strings.Replace(line, " of ", " is one of ", 1))
	}
	if words := evidence.Split(s); words != "" {
		first = append(first, words)
	}
	var second []string
	if words := evidence.Inputs(p, s); words != "" {
		second = append(second, words)
	}
	if words := evidence.EscapeReasons(p, s); len(words) > 0 {
		second = append(second, "the compiler says that "+funcname.List(words[:min(len(words), mostReasons)]))
	}
	var sentences []string
	for _, parts := range [][]string{first, second} {
		if text := strings.Join(parts, "; "); text != "" {
			if word, _, _ := strings.Cut(text, " "); !strings.Contains(word, ".") { // the name of a function
				text = strings.ToUpper(text[:1]) + text[1:]
			}
			sentences = append(sentences, text+".")
		}
	}
	return strings.Join(sentences, " ")
}

// advice returns the question that the figures raise.
func advice(p *rule.Pass, s *site.Site) string {
	if e, ok := evidence.Executions(p, s.Frame); ok && e.PerCall >= often {
		return "Check whether the loop has to run so often, and whether a part of it can move before the loop."
	}
	return "Check whether the work is needed, and needed so often."
}

// often is the minimum number of executions per call of its function for advice about a loop.
const often = 10

const mostReasons = 2 // of the compiler in the cause; the evidence has all
