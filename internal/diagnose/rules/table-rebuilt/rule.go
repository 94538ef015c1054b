// Package tablerebuilt finds maps that are built again from a list that did not change.
package tablerebuilt

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastBuilds is the minimum number of times that the map is built for each change.
	leastBuilds = 10
	// leastRuns is the minimum number of times in a program that runs and exits.
	leastRuns = 50
	// leastElements is the minimum number of elements that are put into the map each time.
	leastElements = 8
)

// Rule is table-rebuilt.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "table-rebuilt",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Map built again from a list that did not change",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// One build in ten or fewer remains, where the list changes.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.85, High: 1},
				Specificity: 3, // map-growth and copy-to-read report lines of the same loop
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A handler puts all elements of a list that the program keeps (a field, a package
variable) into a map, to look up one or a few of them: the grants of all roles,
the routes, the prices by their code. The list did not change since the last
request, so the map is the same. Each entry costs 20 to 100 ns and memory, where
the lookup takes 20 ns.

Build the map where the list changes, and keep it next to the list. Readers then
need no lock if a change replaces the whole map (an atomic.Pointer).

It is fine where the list changes about as often as it is read. The rule counts
both: it reports maps of which at least ten were built for each time that a line
of the package changed the list, with eight elements and more, and only where
what is put in does not depend on the request. The loop may be in a helper that
gets the list, and a function for the key of an element.

Seen in the field: Kirari04/p2pstream#115 (rules copied and ordered for each
request, though they change only with the configuration); rubrikinc/kronos#7 (the
state copied for each read of a clock).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.lines.Nearest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[table]
}

// table is a loop that builds a map from a list that hardly changes.
type table struct {
	place           *gocode.Place
	loop            *ast.RangeStmt // nil if a helper has it
	into            *types.Var
	call            *ast.CallExpr // of the helper
	list            ast.Expr
	builds, changes float64 // for each unit of work
	elements        float64 // of each build
	open            bool    // other packages may change the list
}

// look returns the loop around a line, or the call of a helper, that builds such a map; nil for
// none.
func (s *search) look(f *site.Frame, p *gocode.Place) *table {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	if t := s.calls(f, p); t != nil {
		return t
	}
	line := p.Line
	p = p.Outer()
	for _, stmt := range p.Decl.Body.List {
		loop, ok := stmt.(*ast.RangeStmt)
		if !ok {
			continue
		}
		v := kept.Var(p, loop.X)
		l := filling{place: p, loop: loop, fields: map[*types.Var]bool{}}
		if v == nil || !l.fills() || !readOnly(p, loop, l.into) {
			continue
		}
		inside := syntax.Line(p, loop.Pos()) <= line && line <= syntax.Line(p, loop.End())
		if !inside && line != syntax.Line(p, l.into.Pos()) {
			continue
		}
		t := &table{place: p, loop: loop, into: l.into, list: loop.X, open: v.Exported() && p.Pkg.Name() != "main"}
		c := kept.Changes{Pass: s.pass, Frame: f, Place: p, Var: v, Keys: l.keys()}
		ran, ok := evidence.ExecutionsAt(s.pass, p, loop.Body.List[0].Pos())
		if !ok || ran.Calls <= 0 {
			return nil
		}
		t.builds, t.elements = ran.Calls, ran.PerUnit/ran.Calls
		if t.changes, ok = c.Count(); !ok || t.builds < leastBuilds*t.changes || t.elements < leastElements || s.pass.Manifest.Unit() == "run" && t.builds < leastRuns {
			return nil
		}
		return t
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	t := s.lines.At(&c.Site.Frame)
	if t == nil || !s.discarded(c, t) {
		return false
	}
	from := syntax.Text(t.list)
	times := "which did not change while executions were counted"
	if t.changes > 0 {
		times = fmt.Sprintf("which changes once in %s of these calls", units.Number(t.builds/t.changes))
	}
	elements := "elements"
	if t.elements > 0 {
		elements = units.Number(t.elements) + " elements"
	}
	into := ""
	if t.into != nil {
		into = "the map " + t.into.Name()
	} else {
		into = "a map, with " + symbol.Short(t.place.CalleeName(t.call)) + ","
	}
	c.Cause = fmt.Sprintf("%s puts all %s of %s into %s again on every call. The map follows from %s, %s.",
		syntax.FuncName(t.place), elements, from, into, from, times)
	c.Fix = fmt.Sprintf("Build the map where %s changes, and keep it next to it.", from)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s maps built and %s changes of %s per %s", units.Number(t.builds), units.Number(t.changes), from, s.pass.Manifest.Unit()),
	})
	if t.open {
		c.Confidence = rule.Likely
	}
	return true
}
