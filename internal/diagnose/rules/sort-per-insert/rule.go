// Package sortperinsert finds lists that are sorted again after each insertion of an element.
package sortperinsert

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is sort-per-insert.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sort-per-insert",
		Kind:  rule.CPU,
		Title: "List sorted again after each insertion",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A binary search and a copy of half of the list replace a sort of an almost sorted
				// list: n or more comparisons become log n. Short lists save less.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.3, High: 0.97},
				Removes:  true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function appends one element and sorts the whole list. The list was sorted
before, so only one element is out of place. The sort still examines every
element, with an indirect call for each comparison: inserting n elements costs
at least n² comparisons.

Find the position with slices.BinarySearch and insert the element there with
slices.Insert. If many elements are added before the list is read, append all of
them and sort once; if only the smallest element matters, use container/heap.

It is fine where a loop appends and the sort comes after it; the rule does not
report that.

Seen in the field: armon/go-radix#15 (edges of a node), which was 2.6 times
slower than with a binary search.`

func prepare(_ context.Context, p *rule.Pass) (finder.Line, bool) {
	if p.Syntax == nil {
		return finder.Line{}, false
	}
	type key struct {
		file string
		line int
	}
	known := map[key]*inserted{}
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			f := r.Stack[i]
			if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(r.Stack[i-1].Function) {
				continue
			}
			k := key{f.File, f.Line}
			found, seen := known[k]
			if !seen {
				if place, ok := p.Syntax.At(f.File, f.Line); ok {
					found = insertedAt(place)
				}
				known[k] = found
			}
			if found != nil {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		found := known[key{c.Site.File, c.Site.Line}]
		if found == nil {
			return false
		}
		list := syntax.Text(found.list)
		c.Cause = fmt.Sprintf("%s appends one element to %s (line %d) and sorts the whole list again: n elements cost n² comparisons.",
			syntax.FuncName(c.Place), list, found.line)
		c.Fix = fmt.Sprintf("Insert at the element's position: i, _ := slices.BinarySearchFunc(%s, …), then slices.Insert; or append all elements and sort once.", list)
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}, true
}

// inserted is a list that gets one element and is sorted.
type inserted struct {
	list ast.Expr
	line int // of the append
}

// insertedAt returns the list that a line sorts after the same block appended one element to it.
func insertedAt(p *gocode.Place) *inserted {
	for _, call := range syntax.Calls(p) {
		list := sorts.List(p, call)
		if list == nil {
			continue
		}
		for _, n := range p.Enclosing(call) {
			block, ok := n.(*ast.BlockStmt)
			if !ok {
				continue
			}
			for _, stmt := range block.List {
				if stmt.End() < call.Pos() && appendsOne(p, stmt, list) {
					return &inserted{list, syntax.Line(p, stmt.Pos())}
				}
			}
			break // an append further out belongs to another loop or condition
		}
	}
	return nil
}

// appendsOne reports whether a statement appends one element to a list.
func appendsOne(p *gocode.Place, stmt ast.Stmt, list ast.Expr) bool {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !syntax.Same(p, a.Lhs[0], list) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && !call.Ellipsis.IsValid() && syntax.Same(p, call.Args[0], list)
}
