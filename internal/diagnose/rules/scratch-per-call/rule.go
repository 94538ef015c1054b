// Package scratchpercall finds memory that a call allocates, uses and drops, if that is most of the
// program's garbage.
package scratchpercall

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes is the minimum share of all allocated bytes that the line must allocate.
	leastBytes = 0.2
	// leastScanner is the same for the buffer of a bufio.Scanner, which needs no pool.
	leastScanner = 0.05
	// leastSize is the minimum mean size of the objects, in bytes: below it, a pool costs as much
	// as allocating.
	leastSize = 512
	// mostLive is the largest share of the allocated memory that a collection may find alive:
	// memory that is kept cannot be reused.
	mostLive = 0.02
)

// Rule is scratch-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "scratch-per-call",
		Kind:  rule.Alloc,
		Title: "Scratch memory allocated on every call",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// For memory of some KiB that comes from a pool, clearing it and the pool itself
				// remain.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95},
				Specificity: -50, // a rule that knows what is allocated gives better advice
			},
			Prepare: prepare,
		},
	}
}

const doc = `One line allocates a slice, a map or a struct for each request. It is a large
part of all garbage, and dead by the next collection. The allocator clears the
memory, the collector frees it, and the next request allocates the same again.

Reuse it: keep it in a sync.Pool (of pointers; with its length set to 0 and its
references cleared before it goes back), let the caller pass the memory to fill
(append to a parameter), or make it a field of a longer-lived value that one
goroutine uses at a time. For a small constant size use an array on the stack,
if it does not escape: the compiler reports what escapes.

The buffer that a function makes for each bufio.Scanner, so that it takes long
lines, is not necessary: Buffer(nil, max) starts with 4 KiB and grows to the
maximum only for lines that are as long.

It is fine where the memory is passed to code that keeps it. The rule reports
large buffers of scanners that take a twentieth of all bytes, and other lines that
allocate at least a fifth of all bytes, in objects of at least 512
bytes, of which almost none are alive at a collection, in functions that neither
return nor store them. Make sure that no callee still refers to them when they
go back to the pool.

Seen in the field: the buffers that fasthttp, zap, callers of io.Copy and fmt
itself keep in pools.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	all := float64(p.Table.Totals.AllocBytes)
	take := func(s *site.Site) rule.Match {
		m := finder.TakeOwn(s)
		bytes, objects := stacks.Sum(m.Allocs)
		live, _ := stacks.Sum(m.Live)
		if all <= 0 || float64(bytes) < leastScanner*all || objects == 0 || bytes/objects < leastSize || float64(live) > mostLive*float64(bytes) {
			return rule.Match{Site: s}
		}
		return m
	}
	judge := func(c *finder.Case) bool {
		place := c.Place
		made := scratch(place)
		if made == nil || place.Decl == nil || !syntax.AllocatesOnly(place, made) {
			return false
		}
		bytes, _ := stacks.Sum(c.Allocs)
		if call := scanner(place, made); call != nil {
			return describeScanner(p, c, call)
		}
		if float64(bytes) < leastBytes*all || !stays(place, made) {
			return false
		}
		describe(p, place, c.Match, made)
		return true
	}
	return finder.Line{Start: finder.Rows(take), Judge: judge}
}

// scratch describes what the line allocates, if that is one value that could be reused.
func scratch(p *gocode.Place) ast.Expr {
	var made ast.Expr
	for _, n := range syntax.Allocating(p) {
		e, ok := n.(ast.Expr)
		if !ok || made != nil {
			return nil
		}
		made = e
	}
	if made == nil {
		return nil
	}
	switch e := ast.Unparen(made).(type) {
	case *ast.CallExpr:
		if name := p.CalleeName(e); name != "make" && name != "new" {
			return nil
		}
	case *ast.CompositeLit, *ast.UnaryExpr:
	default:
		return nil
	}
	t := p.TypeOf(made)
	if t == nil {
		return nil
	}
	if _, ok := t.Underlying().(*types.Chan); ok {
		return nil
	}
	return made
}

// stays reports whether the memory belongs to a local variable that the function only uses and
// passes to its callees: the variable is not returned, stored, sent or captured by a closure.
func stays(p *gocode.Place, made ast.Expr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, made))
	if v == nil || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	at := p.Outer()
	for _, use := range syntax.Reads(p, v) {
		around := at.Enclosing(use)
		if len(around) == 0 || leaves(at, use, around) {
			return false
		}
	}
	return true
}

// leaves reports whether a use of a variable passes its memory to code that may keep it.
func leaves(p *gocode.Place, use ast.Expr, around []ast.Node) bool {
	var child ast.Node = use
	for _, n := range around {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.SliceExpr, *ast.StarExpr:
		case *ast.IndexExpr:
			return n.X != child // an element, or an index
		case *ast.SelectorExpr:
			return false // the value of a field, or a method, which may keep it as other functions may
		case *ast.CallExpr:
			return p.CalleeName(n) == "append"
		case *ast.BinaryExpr, *ast.RangeStmt:
			return false
		default:
			return true
		}
		child = n
	}
	return true
}

func describe(p *rule.Pass, place *gocode.Place, m *rule.Match, made ast.Expr) {
	bytes, objects := stacks.Sum(m.Allocs)
	m.Cause = fmt.Sprintf("%s allocates %s each time %s runs it, %s of all bytes, and almost none of them are alive at a collection: they are used for one call and discarded.",
		syntax.Text(made), units.Bytes(float64(bytes)/float64(objects)), syntax.FuncName(place), units.Percent(float64(bytes)/float64(p.Table.Totals.AllocBytes)))
	m.Fix = "Reuse the memory: keep it in a sync.Pool, with the length set to 0 and references cleared before Put, or append to a parameter."
	if words := evidence.EscapeReasons(p, m.Site); len(words) > 0 {
		m.Fix += fmt.Sprintf(" It is on the heap since %s.", words[0])
	}
	m.Confidence = rule.Likely
}
