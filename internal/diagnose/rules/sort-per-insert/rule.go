// Package sortperinsert finds lists that are sorted again after each insertion of an element.
package sortperinsert

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
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

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	search := search{pass: p, known: map[key]*inserted{}, lines: map[gocode.Pos]*inserted{}}
	judge := func(c *finder.Case) bool {
		found := search.lines[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
		if found == nil {
			return false
		}
		list := syntax.Short(found.list)
		c.Cause = fmt.Sprintf("%s appends one element to %s (line %d) and sorts the whole list again: n elements cost n² comparisons.",
			syntax.FuncName(c.Place), list, found.line)
		c.Fix = fmt.Sprintf("Insert at the element's position: i, _ := slices.BinarySearchFunc(%s, …), then slices.Insert; or append all elements and sort once.", list)
		return true
	}
	return finder.Line{Start: finder.Frames(search.caller), Judge: judge}
}

// search remembers the lines that sort.
type search struct {
	pass  *rule.Pass
	known map[key]*inserted
	lines map[gocode.Pos]*inserted // those that sort after an insertion
}

// key is a line and the function that sorts for it.
type key struct {
	at     gocode.Pos
	callee string
}

// caller returns the frame of a row that inserts an element into a list and sorts it: by a function
// that sorts, or through one of the program that sorts the list which it gets.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(r.Stack[i-1].Function) {
			continue
		}
		if s.at(f, r.Stack[i-1].Function, insertedAt) {
			return i
		}
		if i+1 == len(r.Stack) || r.Stack[i+1].Owner.Kind != gocode.Main {
			continue
		}
		through := func(up *gocode.Place) *inserted {
			if p, ok := s.pass.Syntax.At(f.File, f.Line); ok {
				return insertedAbove(p, up)
			}
			return nil
		}
		if s.at(r.Stack[i+1], f.Function, through) {
			return i + 1
		}
	}
	return -1
}

// at remembers what look finds on a line, and reports whether it found something.
func (s *search) at(f *site.Frame, callee string, look func(*gocode.Place) *inserted) bool {
	k := key{gocode.Pos{File: f.File, Line: f.Line}, callee}
	found, seen := s.known[k]
	if !seen {
		if place, ok := s.pass.Syntax.At(f.File, f.Line); ok {
			found = look(place)
		}
		s.known[k] = found
	}
	if found != nil && s.lines[k.at] == nil {
		s.lines[k.at] = found
	}
	return found != nil
}

// list is a list as the source of a function names it.
type list struct {
	root *types.Var // the variable that has it
	text string
}

func named(p *gocode.Place, e ast.Expr) list {
	v, _ := syntax.Var(p, e)
	e = ast.Unparen(e)
	if star, ok := e.(*ast.StarExpr); ok { // sort.Sort(q.items), with *q.items = append(*q.items, x)
		e = ast.Unparen(star.X)
	}
	return list{v, types.ExprString(e)}
}

// is reports whether an expression names the list.
func (l list) is(p *gocode.Place, e ast.Expr) bool { return l.root != nil && named(p, e) == l }

// insertedAbove returns the list that the line of a place sorts for its function's caller, as a
// parameter, the receiver or a field of one, if the caller appended one element to it before.
func insertedAbove(p, caller *gocode.Place) *inserted {
	call := flow.CallAbove(p, caller)
	if call == nil {
		return nil
	}
	for _, sort := range syntax.Calls(p) {
		sorted := sorts.List(p, sort)
		if sorted == nil {
			continue
		}
		root, part := syntax.Var(p, sorted)
		given := flow.ArgumentFor(p, call, root)
		if given == nil {
			return nil
		}
		if u, ok := ast.Unparen(given).(*ast.UnaryExpr); ok && u.Op == token.AND {
			given = u.X
		}
		l := named(caller, given)
		if part {
			rest, ok := strings.CutPrefix(types.ExprString(sorted), root.Name())
			if !ok {
				return nil
			}
			l.text += rest
		}
		return insertedBefore(caller, call, l)
	}
	return nil
}

// inserted is a list that gets one element and is sorted.
type inserted struct {
	list string
	line int // of the append
}

// insertedAt returns the list that a line sorts after the same block appended one element to it.
func insertedAt(p *gocode.Place) *inserted {
	for _, call := range syntax.Calls(p) {
		if list := sorts.List(p, call); list != nil {
			if found := insertedBefore(p, call, named(p, list)); found != nil {
				return found
			}
		}
	}
	return nil
}

// insertedBefore returns a list if the block around a call, which sorts it, appended one element to
// it before, perhaps on a condition.
func insertedBefore(p *gocode.Place, call *ast.CallExpr, list list) *inserted {
	for _, n := range p.Enclosing(call) {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			continue
		}
		for _, stmt := range block.List {
			if stmt.End() < call.Pos() && appendsIn(p, stmt, list) {
				return &inserted{list.text, syntax.Line(p, stmt.Pos())}
			}
		}
		break // an append further out belongs to another loop or condition
	}
	return nil
}

// appendsIn reports whether a statement, or one of those under a condition, appends one element to
// a list.
func appendsIn(p *gocode.Place, stmt ast.Stmt, list list) bool {
	test, ok := stmt.(*ast.IfStmt)
	if !ok {
		return appendsOne(p, stmt, list)
	}
	blocks := test.Body.List
	if rest, ok := test.Else.(*ast.BlockStmt); ok {
		blocks = slices.Concat(blocks, rest.List)
	}
	return slices.ContainsFunc(blocks, func(s ast.Stmt) bool { return appendsIn(p, s, list) })
}

// appendsOne reports whether a statement appends one element to a list, to the field of a struct
// that sorts itself, or to the entry of a map from which the list comes.
func appendsOne(p *gocode.Place, stmt ast.Stmt, list list) bool {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	to := a.Lhs[0]
	if sel, ok := ast.Unparen(to).(*ast.SelectorExpr); !list.is(p, to) && (!ok || !list.is(p, sel.X) || isSlice(p, sel.X)) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "append" || len(call.Args) != 2 || call.Ellipsis.IsValid() {
		return false
	}
	return named(p, to).is(p, call.Args[0]) || storedBack(p, to, call.Args[0])
}

// isSlice reports whether an expression is a slice: what is appended to a field of its elements is
// not appended to it.
func isSlice(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return true
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// storedBack reports whether a function assigns a variable to the entry of a map or the field that
// it got the list from: xs := append(m[k], x), and later m[k] = xs.
func storedBack(p *gocode.Place, xs, from ast.Expr) bool {
	v := syntax.LocalVar(p, xs)
	if v == nil {
		return false
	}
	switch ast.Unparen(from).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
	default:
		return false
	}
	for _, id := range syntax.Reads(p, v) {
		if to := syntax.AssignedTo(p.Outer(), id); to != nil && types.ExprString(to) == types.ExprString(from) {
			return true
		}
	}
	return false
}
