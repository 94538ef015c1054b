// Package mostlyempty finds maps, slices and other containers that are created on every call, and
// of which few are filled or used.
package mostlyempty

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// mostFilled is the largest share of the containers that may be filled.
	mostFilled = 1. / 3
	// leastCreated per run of a program that exits, or per request.
	leastCreated, leastCreatedRun = 0.5, 1000
)

// Rule is mostly-empty.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "mostly-empty",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Map or slice created each time, though few elements are put into it",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Each match has its own: the counted share that stays empty, of what the line
				// allocates for the container.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.4, High: 1},
				Specificity: 1,
			},
			Lines: []finder.Line{
				{Start: finder.Rows(finder.TakeOwn), Judge: judge},
				{Start: finder.Rows(finder.TakeOwn), Judge: judgeRoom},
			},
		},
	}
}

const doc = `A constructor or a function creates a map, a slice with a capacity, a channel, a
buffer or a lock that only some of its callers need: variables of a block that
defines none, a set of errors of valid input, listeners of an object that nobody
watches. A map takes 48 bytes, and a capacity takes it all at once, for each
object; the garbage collector frees it unused.

Create it when the first element is added (if x.m == nil { x.m = map[K]V{} }).
Lookups, len, range and delete work with a nil map, and append with a nil slice.

The same holds for room that is not used: a list that is created with the
capacity of the largest batch, and gets one element. All of the memory is
cleared, and counts for the next collection. Start with the usual size, or reuse
the list.

It is fine where most are filled. The rule counts executions: it reports
containers into which at most a third of as many elements were put as containers
were created, and slices of at least 2 KiB of which elements take an eighth or
less, while they were counted. It leaves out slices that other functions may
fill (strconv.AppendInt, Seal of a cipher, Buffer of a scanner). Take care where
an encoder shows the difference: encoding/json writes null for a nil map or
slice.

Seen in the field: mattn/anko#373 (variables of each block), onflow/cadence#2065
(globals of an interpreter), cockroachdb/cockroach#113150 (sets that are
returned empty), segmentio/kafka-go#1193 (room for the largest batch: 30 GB per
minute became 0.1).`

func judge(c *finder.Case) bool {
	created, ok := evidence.Executions(c.Pass, c.Site.Frame)
	least := leastCreated
	if c.Pass.Manifest.Unit() == "run" {
		least = leastCreatedRun
	}
	if !ok || created.PerUnit < least || c.Place.Decl == nil {
		return false
	}
	for _, n := range syntax.Allocating(c.Place) {
		e, ok := n.(ast.Expr)
		if !ok || !empty(c.Place, e) {
			continue
		}
		u, ok := usesOf(c, e)
		if !ok || !u.known || u.filled > mostFilled*created.PerUnit {
			continue
		}
		report(c, e, u, created.PerUnit)
		return true
	}
	return false
}

// report fills in the match.
func report(c *finder.Case, e ast.Expr, u *usage, created float64) {
	filled := u.filled / created
	share := part(c.Place, e) * (1 - filled)
	c.Fraction = &rule.Fraction{Expect: 0.95 * share, Low: 0.6 * share, High: min(1, 1.1*share)}
	c.Confidence = rule.Likely // what tells nil from empty is not known
	what := kind(c.Place, c.Place.TypeOf(e))
	count := "nothing was put into any of them while executions were counted"
	if u.kind == used {
		count = "none of them was used while executions were counted"
	}
	if u.filled > 0 {
		count = fmt.Sprintf("at most %s of them get an element", units.Percent(filled))
		if u.kind == used {
			count = fmt.Sprintf("at most %s of them are used", units.Percent(filled))
		}
	}
	c.Cause = fmt.Sprintf("Each execution creates %s for %s (%s), but %s.", what, u.name, syntax.Text(e), count)
	where := ""
	if u.at != "" {
		where = " (" + u.at + ")"
	}
	c.Fix = fmt.Sprintf("Create %s when the first element is added%s: if %s == nil.", u.name, where, u.text)
	if u.kind == used {
		c.Fix = fmt.Sprintf("Create %s when it is first needed%s; if several goroutines may do so, with a sync.Once or a mutex locked.", u.name, where)
	} else if u.v.IsField() && u.v.Exported() {
		c.Fix += " Check what encodes it: encoding/json writes null for a nil map or slice."
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("created %s per %s, filled at most %s", evidence.Times(created), c.Pass.Manifest.Unit(),
			evidence.Times(u.filled)),
	})
	c.Live = nil
}

// empty reports whether an expression creates a container without elements.
func empty(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	_, isMap := t.Underlying().(*types.Map)
	_, isSlice := t.Underlying().(*types.Slice)
	_, isChan := t.Underlying().(*types.Chan)
	switch e := e.(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0 && isMap
	case *ast.UnaryExpr: // &sync.Mutex{}, &bytes.Buffer{}
		lit, ok := ast.Unparen(e.X).(*ast.CompositeLit)
		return ok && len(lit.Elts) == 0 && isField(p, e)
	case *ast.CallExpr:
		if p.CalleeName(e) == "new" {
			return isField(p, e)
		}
		if p.CalleeName(e) != "make" {
			return false
		}
		if isSlice {
			n, ok := syntax.ConstInt(p, e.Args[1])
			return ok && n == 0 && len(e.Args) == 3
		}
		return isMap || isChan
	}
	return false
}

// isField reports whether a new value is given to a field.
func isField(p *gocode.Place, e ast.Expr) bool {
	v := holder(p.Outer(), e)
	return v != nil && v.IsField()
}

func kind(p *gocode.Place, t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Map:
		return "a map"
	case *types.Chan:
		return "a channel"
	case *types.Pointer:
		return "a " + syntax.TypeText(p, syntax.Pointed(t))
	}
	return "a slice"
}

// mapHeader is the size of a map without elements, in bytes. A map that is created for more than
// mapGroup elements has room for them at once.
const (
	mapHeader = 48
	mapGroup  = 8
)

// part estimates which share of what a line allocates is the container.
func part(p *gocode.Place, e ast.Expr) float64 {
	own, rest := size(p, e), 0.
	for _, n := range syntax.Allocating(p) {
		other, ok := n.(ast.Expr)
		if !ok || other == e {
			continue
		}
		if s := size(p, other); s > 0 && own > 0 {
			rest += s
			continue
		}
		return 0.5
	}
	if rest == 0 {
		return 1
	}
	return own / (own + rest)
}

// size returns the bytes that an expression allocates, as far as its types show; 0 if unknown.
func size(p *gocode.Place, e ast.Expr) float64 {
	sizes := syntax.Sizes()
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = u.X
	}
	t := p.TypeOf(e)
	if t == nil || syntax.Generic(t) {
		return 0
	}
	constant := func(call *ast.CallExpr, i int) (float64, bool) {
		if i >= len(call.Args) {
			return 0, true
		}
		n, ok := syntax.ConstInt(p, call.Args[i])
		return float64(n), ok
	}
	call, _ := ast.Unparen(e).(*ast.CallExpr)
	if call != nil && p.CalleeName(call) == "new" {
		call, t = nil, syntax.Pointed(t)
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		if call == nil {
			return mapHeader
		}
		if n, ok := constant(call, 1); ok {
			if n <= mapGroup {
				return mapHeader
			}
			return mapHeader + 1.5*n*float64(sizes.Sizeof(u.Key())+sizes.Sizeof(u.Elem())+1)
		}
	case *types.Slice:
		if call != nil {
			if n, ok := constant(call, len(call.Args)-1); ok {
				return n * float64(sizes.Sizeof(u.Elem()))
			}
		}
	case *types.Chan:
		if call != nil {
			if n, ok := constant(call, 1); ok {
				return 96 + n*float64(sizes.Sizeof(u.Elem()))
			}
		}
	case *types.Struct, *types.Array:
		if call == nil {
			return float64(sizes.Sizeof(t))
		}
	}
	return 0
}
