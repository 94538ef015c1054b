// Package costlyline names the lines that cost much and that no other rule explains.
package costlyline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is costly-line.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "costly-line",
		Kind:    rule.CPU,
		Title:   "Line that costs much",
		Doc:     doc,
		Generic: true,
		Finder: finder.Lines{
			Claim: rule.Claim{Specificity: -100},
			Loop:  find,
		},
	}
}

const doc = `Every line of the program or of a module that it uses which takes a
good part of the CPU, makes a good part of the garbage or is waited for, and
which no other rule knows anything about. The finding says what the line spends
on, by which calls, why its memory is on the heap in the compiler's words, and
which line of the program leads to it. It promises no saving, for nobody knows
one yet.

It is fine when the work has to be done, which is the rule and not the
exception: something has to be the most expensive line of any program. Ask
whether the work is needed, needed so often, and needed on that path.

Seen in the field: the costs that remain in "Profiling and optimizing Go web
applications" (artem.krylysov.com, 2017) when all known mistakes are fixed:
formatting and hashing that the service is there to do.`

// least is the share of all CPU, bytes or waiting below which a line is not looked at.
// The engine's floor is for whole functions, which such lines add up to.
const least = 0.001

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		if s.Owner.Kind != gocode.Main && s.Owner.Kind != gocode.Dependency || !worth(s.Cost, &p.Table.Totals) {
			continue
		}
		m := rule.Match{Site: s, CPU: s.CPU, Allocs: s.Allocs, Mutex: s.Mutex, Kind: kind(s.Cost), Confidence: rule.Hint}
		m.Cause = cause(p, s)
		m.Fix = fmt.Sprintf("Ask whether the work is needed, and so often; `%s` shows who calls the line, what it calls and what the compiler says.", evidence.WhyCommand(p, s))
		if words := evidence.Runs(p, s.Frame, s.Cost); words != "" {
			m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: words})
		}
		if words := evidence.EscapeReasons(p, s); len(words) > 0 {
			m.Evidence = append(m.Evidence, rule.Evidence{
				What:    evidence.CompilerSaid,
				Value:   strings.Join(words, "; "),
				Command: "go build -gcflags=-m=2 " + s.Owner.Package,
			})
		}
		matches = append(matches, m)
	}
	return matches, nil
}

// worth reports whether a line's cost may matter.
func worth(c site.Cost, t *site.Totals) bool {
	over := func(part, all float64) bool { return part > 0 && part >= least*all }
	return over(c.CPUSeconds+c.GCSeconds, t.TotalSeconds) ||
		over(float64(c.AllocBytes), float64(t.AllocBytes)) ||
		over(c.MutexSeconds, t.MutexSeconds)
}

// kind is what the line costs most of.
func kind(c site.Cost) rule.Kind {
	switch busy := c.CPUSeconds + c.GCSeconds; {
	case busy == 0 && c.MutexSeconds > 0:
		return rule.Lock
	case c.AllocBytes > 0 && 2*(c.MallocSeconds+c.GCSeconds) >= busy:
		return rule.Alloc
	}
	return rule.CPU
}

// cause says what is known of a line.
func cause(p *rule.Pass, s *site.Site) string {
	text := []string{"No rule explains this cost."}
	if words := evidence.Runs(p, s.Frame, s.Cost); words != "" {
		text = []string{"The line " + words + "."}
	}
	if s.Owner.Kind == gocode.Dependency {
		text = append(text, fmt.Sprintf("The line is one of %s.", strings.TrimSpace(s.Owner.Module+" "+s.Owner.Version)))
	}
	if words := parts(s.CPU); words != "" {
		text = append(text, "Its CPU goes into "+words+".")
	}
	if words := parts(s.Allocs); words != "" {
		text = append(text, "Its memory is allocated by "+words+".")
	}
	if words := inputs(p, s); words != "" {
		text = append(text, words)
	}
	if words := evidence.EscapeReasons(p, s); len(words) > 0 {
		text = append(text, "The compiler: "+strings.Join(words[:min(len(words), mostReasons)], "; ")+".")
	}
	if s.Entry != nil {
		text = append(text, fmt.Sprintf("%s:%d calls it.", path.Base(strings.ReplaceAll(s.Entry.File, `\`, "/")), s.Entry.Line))
	}
	return strings.Join(text, " ")
}

// inputs says what the functions got that the line calls or is in; "" when nothing is known.
func inputs(p *rule.Pass, s *site.Site) string {
	byCallee := map[string]int64{}
	for _, rows := range [][]*site.Row{s.CPU, s.Allocs} {
		for _, r := range rows {
			byCallee[callee(r)] += r.Value
		}
	}
	names := slices.SortedFunc(maps.Keys(byCallee), func(a, b string) int { return cmp.Or(cmp.Compare(byCallee[b], byCallee[a]), strings.Compare(a, b)) })
	for _, name := range append(names, s.Function) {
		if words := evidence.InputsSeen(p, name); words != "" {
			return name + " " + words + "."
		}
	}
	return ""
}

const itself = "the line itself"

const (
	mostReasons = 3    // of the compiler's that the cause names
	mostCallees = 2    // that the cause names
	leastCallee = 0.15 // of the line's cost, to be named
)

// parts says where a line's rows go: "fmt.Sprintf (60 %) and the line itself (40 %)"; "" when there are none,
// or the line calls nothing that is worth a word.
func parts(rows []*site.Row) string {
	total := int64(0)
	byCallee := map[string]int64{}
	for _, r := range rows {
		total += r.Value
		byCallee[callee(r)] += r.Value
	}
	if total <= 0 {
		return ""
	}
	names := make([]string, 0, len(byCallee))
	for name := range byCallee {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(byCallee[b], byCallee[a]), strings.Compare(a, b))
	})
	var words []string
	for _, name := range names[:min(len(names), mostCallees)] {
		if share := float64(byCallee[name]) / float64(total); share >= leastCallee || len(words) == 0 {
			words = append(words, fmt.Sprintf("%s (%s)", name, units.Percent(share)))
		}
	}
	if names[0] == itself && len(words) == 1 {
		return ""
	}
	return funcname.List(words)
}

// callee names what a row of the line is spent in: the function that it calls. The runtime's allocator is
// the line's own doing.
func callee(r *site.Row) string {
	name := stacks.Callee(r)
	switch {
	case name == "", funcname.Match(name, "runtime.asyncPreempt*"): // the scheduler stopped the line, it called nothing
		return itself
	case r.Class == site.Malloc && strings.HasPrefix(name, "runtime."):
		return "allocation"
	}
	return name
}
