// Package parsedperuse finds texts that objects keep, and that are parsed again on each use.
package parsedperuse

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastUses is the minimum number of times that a text is parsed for each change.
	leastUses = 100
	// leastPerUnit is the minimum number of times for each request: what is parsed once for it is
	// one of many objects, of which a cache of answers is another way out.
	leastPerUnit = 2
	// leastRuns is the minimum number of times in a program that runs and exits.
	leastRuns = 1000
)

// Rule is parsed-per-use.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "parsed-per-use",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Texts that objects keep parsed again on each use",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The fix removes the call; reading a field replaces it.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 1, // how the text is parsed does not matter if it is done once
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A list of rules, routes, users or jobs keeps its settings as texts: a
network "10.1.0.0/16", a version "v1.4", a pattern, a list with commas, a name,
an encoded document. Each request goes through the list and parses, splits,
converts or decodes the text of each element before it compares. The texts are
set once, so the results are the same each time. For n elements that is n parses
for each request, for a comparison that takes a nanosecond.

Parse where the element is made or its text is set, and keep the result in a
field beside the text: a netip.Prefix, the numbers of a version, the lower-case
name. That also reports a wrong text when it is set, not when it is used. If the
type comes from elsewhere, keep a list of your own type with the results.

It is fine where the objects live for one request, or where the texts change
about as often as they are used. The rule counts executions: it reports calls
whose arguments are constants and fields of objects, whose results depend on
their arguments alone, and that run at least a hundred times for each time that
a line of the program sets such a field, creates such an object or decodes one.
In benchmarks, which use the same objects again, it reports nothing.

Seen in the field: netbirdio/netbird#4488 (constraints on versions compiled for
each peer and policy: 8 processors for 70 peers).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Benchmark() {
		return finder.Line{} // they use the same objects again, whatever programs do
	}
	s := &search{pass: p, changed: map[*types.Var]*changes{}}
	s.edges = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Frames(s.edges.Farthest), Judge: s.judge}
}

type search struct {
	pass    *rule.Pass
	edges   *finder.Edges[parse]
	changed map[*types.Var]*changes // of each field
}

// parse is a call that computes something of texts that objects keep.
type parse struct {
	call   *ast.CallExpr
	callee string                       // as profiles name it
	texts  []string                     // the expressions of the fields
	fields []*types.Var                 // which
	owner  types.Type                   // of the objects
	roots  map[*ast.FuncDecl]*types.Var // the object, in each function
	uses   float64                      // for each unit of work
	sets   float64                      // of the fields, for each unit of work
}

// look returns the call at an edge, if it computes something of texts that hardly change.
func (s *search) look(f, below *site.Frame) *parse {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	for _, call := range syntax.CallsTo(place, below.Function) {
		found := &parse{call: call, callee: below.Function, roots: map[*ast.FuncDecl]*types.Var{}}
		if !s.computes(p, call, below) || !s.arguments(p, call, found) {
			continue
		}
		ran, ok := evidence.ExecutionsAt(s.pass, p, call.Pos())
		if found.uses = ran.PerUnit; !ok || !s.often(found.uses) || !s.seldomSet(p, found) {
			continue
		}
		return found
	}
	return nil
}

func (s *search) often(uses float64) bool {
	if s.pass.Manifest.Unit() == "run" {
		return uses >= leastRuns
	}
	return uses >= leastPerUnit
}

// computes reports whether the result of a call depends on its arguments alone.
func (s *search) computes(p *gocode.Place, call *ast.CallExpr, below *site.Frame) bool {
	fn := p.Callee(call)
	if fn == nil || len(call.Args) == 0 {
		return false
	}
	if funcname.Match(below.Function, "strings.Index*", "strings.LastIndex", "strings.Count", "strings.EqualFold", "path.Match", "path/filepath.Match") {
		return false // a test, which is for the reader
	}
	if decodes(fn) || funcname.Match(below.Function, effects.DeterministicFuncs()...) {
		return true
	}
	if k := below.Owner.Kind; k != gocode.Main && k != gocode.Dependency || fn.Signature().Recv() != nil || fn.Signature().Results().Len() == 0 {
		return false
	}
	in, ok := s.pass.Syntax.At(below.File, below.Line)
	return ok && in.Decl != nil && in.Func == ast.Node(in.Decl) && in.Decl.Name.Name == fn.Name() && effects.LooksPure(in)
}

// decodes reports whether a function decodes its first argument into its second one.
func decodes(fn *types.Func) bool {
	return strings.HasPrefix(fn.Name(), "Unmarshal") && fn.Signature().Recv() == nil && fn.Signature().Params().Len() == 2
}

// seldomSet reports whether the fields that a call depends on are seldom set, compared with its
// executions.
func (s *search) seldomSet(p *gocode.Place, found *parse) bool {
	for _, f := range found.fields {
		c, ok := s.changed[f]
		if !ok {
			c = changesOf(s.pass, p, f)
			s.changed[f] = c
		}
		if !c.known || c.decoded > 1./leastUses || c.decoded > 0 && s.pass.Manifest.Unit() == "run" {
			return false
		}
		found.sets = max(found.sets, c.sets)
	}
	return found.uses >= leastUses*found.sets
}

func (s *search) judge(c *finder.Case) bool {
	found := s.edges.From(&c.Site.Frame)
	if found == nil {
		return false
	}
	name, unit := symbol.Short(c.Place.CalleeName(found.call)), s.pass.Manifest.Unit()
	what := funcname.List(found.texts)
	changed := "did not change while executions were counted"
	if found.sets > 0 {
		changed = fmt.Sprintf("is set or created once for %s uses", units.Number(found.uses/found.sets))
	}
	c.Cause = fmt.Sprintf("%s computes the same result of %s again on each use, %s per %s: the text is kept in an object, and %s.",
		name, what, evidence.Times(found.uses), unit, changed)
	c.Fix = fmt.Sprintf("Call %s once, where %s is set or its object is created, keep the result in a field beside it, and use that here.", name, what)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("used %s times and set %s times per %s", units.Number(found.uses), units.Number(found.sets), unit),
	})
	c.Confidence, c.Callees = rule.Likely, []string{found.callee}
	return true
}
