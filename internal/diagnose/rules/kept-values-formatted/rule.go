// Package keptvaluesformatted finds values that an object keeps, and formats again for each line.
package keptvaluesformatted

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastUses is the minimum number of times that the values are formatted for each change.
	leastUses = 10
	// leastRuns is the minimum number of times in a program that runs and exits.
	leastRuns = 50
)

// Rule is kept-values-formatted.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "kept-values-formatted",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Kept values formatted again each time, although they did not change",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it: see judge.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 3, // how the values are formatted does not matter if it is done once
			},
			Prepare: prepare,
		},
	}
}

const doc = `A logger keeps the pairs of With, a client the headers of its requests, a metric
its labels. They are set once, and each line, request or sample formats all of
them again: with reflection for values of interface types, 100 ns to microseconds
and several allocations for each value. The text is the same each time.

Format the values where they are added (With, AddValues), keep the text, and
append it to each line. A logger that returns a copy from With extends the text
of the old one.

It is fine if the values are pointers to what changes and each line has to show
the state of that moment, or if the objects live for one line only. The rule
compares how often the values are formatted with how often a line of the package
sets them or creates such an object, as counted in the recording: it reports ten
times and more. If other values are formatted in the same call, it is not known
which part of its cost they have.

Seen in the field: go-logr/logr#103 (the pairs of WithValues rendered for each
line of the log).`

// formatters are functions that format a value, as profiles name them.
var formatters = []string{"fmt.*", "strconv.*", "reflect.*", "encoding/json.*", "time.Time.Format*", "time.Time.AppendFormat*"}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[formatting]
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.edges = finder.RememberEdges(s.look)
	p.EachRow(s.note)
	for _, at := range p.Table.Sites {
		for _, r := range at.Allocs {
			s.note(r)
		}
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

// edge returns the frame of a row, nearest to the leaf, that gives such values to the function
// below it; -1 for none.
func (s *search) edge(r *site.Row) (int, *formatting) {
	for i := 1; i < len(r.Stack); i++ {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if u := s.edges.At(r.Stack[i], r.Stack[i-1]); u != nil {
			return i, u
		}
	}
	return -1, nil
}

// note records that the samples show a value being formatted.
func (s *search) note(r *site.Row) {
	i, u := s.edge(r)
	for _, f := range r.Stack[:max(i, 0)] {
		u.formats = u.formats || funcname.Match(f.Function, formatters...)
	}
}

func (s *search) caller(r *site.Row) int {
	i, u := s.edge(r)
	if u == nil || !u.formats {
		return -1
	}
	return i
}

// look returns what a call formats of the values that an object keeps, if they hardly change; nil
// for none.
func (s *search) look(f, below *site.Frame) *formatting {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	for _, call := range syntax.CallsTo(place, below.Function) {
		u := formattingBy(place.Outer(), call)
		if u == nil {
			continue
		}
		ran, ok := evidence.ExecutionsAt(s.pass, place, u.at)
		if !ok {
			return nil
		}
		c := kept.Changes{Pass: s.pass, Frame: f, Place: place, Var: u.list, Skip: call}
		u.uses, u.callee = ran.PerUnit, below.Function
		if u.changes, ok = c.Count(); !ok || u.uses < leastUses*u.changes || s.pass.Manifest.Unit() == "run" && u.uses < leastRuns {
			return nil
		}
		return u
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	u := s.edges.From(&c.Site.Frame)
	if u == nil {
		return false
	}
	name := symbol.Short(c.Place.CalleeName(u.call))
	how := "did not change while executions were counted"
	if u.changes > 0 {
		how = fmt.Sprintf("changes once in %s of these times", units.Number(u.uses/u.changes))
	}
	with := ""
	if u.shared { // of two or three values beside them, or of most
		with = ", together with the values of the call"
		c.Fraction = &rule.Fraction{Expect: 0.5, Low: 0.1, High: 0.85}
	}
	c.Cause = fmt.Sprintf("%s formats the values of %s again each time that %s calls %s%s. %s %s, so their text is the same.",
		name, u.text, syntax.FuncName(c.Place), name, with, u.text, how)
	where := "where they are set"
	if u.setter != "" {
		where += " (" + u.setter + ")"
	}
	c.Fix = fmt.Sprintf("Format the values of %s once, %s, keep the text next to them, and append it here.", u.text, where)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("formatted %s times and changed %s times per %s", units.Number(u.uses), units.Number(u.changes), s.pass.Manifest.Unit()),
	})
	c.Confidence, c.Callees = rule.Likely, []string{u.callee}
	return true
}
