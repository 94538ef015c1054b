// Package computedahead finds values that are computed and stored whenever something changes, of
// which few are read.
package computedahead

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// mostRead is the largest number of reads for each value that is stored.
const mostRead = 0.1

// Rule is computed-ahead.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "computed-ahead",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Values computed on each change, few of which are read",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of values that nobody reads.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 3, // how a value is computed does not matter where it is not read
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `When something changes, a program computes what could be asked for: the view of
each tenant, an index for each namespace, a text for a status page. It stores the
values, and the next change replaces them. If changes come more often than
questions, or if only a few of the keys are asked for, most values are computed
and dropped without having been read. It looks like a cache that always hits.

Compute a value when it is first asked for, and keep it until what it depends on
changes: a map that a change empties, or a sync.OnceValue in each entry. Readers
of a snapshot can share it. If a question must not wait, compute ahead only for
the keys that were asked for lately, or once for many changes.

It is fine where most values are read, and where what they are computed from is
gone later. The rule counts executions: it reports calls without visible side
effects, on values that the program keeps, whose result is stored in a field, if
code reads the field at most once for ten values that are stored.

Seen in the field: istio/istio#35144 (scopes computed for all namespaces, also
for those without a client).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, readers: map[*types.Var]readers{}}
	s.edges = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Frames(s.edges.Farthest), Judge: s.judge}
}

type search struct {
	pass    *rule.Pass
	edges   *finder.Edges[ahead]
	readers map[*types.Var]readers // of each field
}

// ahead is a call whose result is stored, and seldom read.
type ahead struct {
	call   *ast.CallExpr
	callee string // as profiles name it
	field  ast.Expr
	keyed  bool    // each value is an element of it
	stores float64 // for each unit of work
	reads  readers
}

// look returns the call at an edge, if its result is stored and seldom read.
func (s *search) look(f, below *site.Frame) *ahead {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	for _, call := range syntax.CallsTo(place, below.Function) {
		found := &ahead{call: call, callee: below.Function}
		v, stored := found.stored(p)
		ran, ok := evidence.ExecutionsAt(s.pass, p, call.Pos())
		if v == nil || !ok || !evidence.Hot(s.pass, ran) || !s.pure(p, call) || !s.fromKept(p, call) {
			continue
		}
		runs, ok := evidence.ReachedAt(s.pass, p, stored.Pos())
		if found.stores = min(runs, ran.PerUnit); !ok || found.stores <= 0 {
			continue
		}
		if found.reads = s.readsOf(p, v, found.keyed); found.reads.known && found.reads.runs <= mostRead*found.stores {
			return found
		}
	}
	return nil
}

// pure reports whether a call of a function of the package seems to do nothing but compute its
// result.
func (s *search) pure(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || effects.Impure(fn) || effects.Changes(fn) || fn.Signature().Results().Len() != 1 {
		return false
	}
	decl := p.Declaration(fn)
	return decl != nil && decl.Body != nil && effects.LooksPure(p.Entry(decl))
}

func (s *search) judge(c *finder.Case) bool {
	f := s.edges.From(&c.Site.Frame)
	if f == nil {
		return false
	}
	name, unit := symbol.Short(c.Place.CalleeName(f.call)), s.pass.Manifest.Unit()
	into, unread := syntax.Text(f.field), 1-f.reads.runs/f.stores
	c.Fraction = &rule.Fraction{Expect: 0.95 * unread, Low: 0.6 * unread, High: 1}
	c.Confidence = rule.Likely // the load may ask for less than users do
	read := "none was read while executions were counted"
	if f.reads.runs > 0 {
		read = fmt.Sprintf("%s was read %s (%s of them at most)", into, evidence.Times(f.reads.runs), units.Percent(f.reads.runs/f.stores))
	}
	where := ""
	if f.reads.where != "" {
		where = " at " + f.reads.where
	}
	c.Cause = fmt.Sprintf("%s computes what is stored in %s %s per %s, but %s.", name, into, evidence.Times(f.stores), unit, read)
	c.Fix = fmt.Sprintf("Let the reader%s call %s when a value is first asked for, and keep the result until what it is computed from changes.", where, name)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s values stored and %s reads per %s", units.Number(f.stores), units.Number(f.reads.runs), unit),
	})
	c.Callees = []string{f.callee}
	return true
}
