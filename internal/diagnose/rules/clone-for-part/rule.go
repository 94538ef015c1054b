// Package cloneforpart finds deep copies of a whole value of which only a part is used.
package cloneforpart

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// mostParts is how many different parts of a clone may be used.
const mostParts = 3

// Rule is clone-for-part.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "clone-for-part",
		Kind:  rule.Alloc,
		Title: "Whole value cloned, and only a part of the clone used",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A clone of the part may remain. How large a part it is is not known.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.4, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function makes a deep copy of a value (Clone, DeepCopy) and then uses one field
or one entry of the copy. The copy allocates and visits everything that the value
refers to, often with reflection, and drops nearly all of it.

Read the part from the original, under the same lock, and clone only that part if
somebody may change it. Or publish immutable values in an atomic.Pointer: whoever
changes the value stores a new one, and readers need no copy.

The same goes for a copy of all elements of a list or a map (maps.Clone,
slices.Clone, a loop) that a getter returns to a caller which looks up one key.

It is fine for small values. The rule reports clones of which a function uses up
to three parts, and that it neither changes, stores nor passes on as a whole: the
function that clones, or one that calls a getter which returns the clone.

Seen in the field: milvus-io/milvus#29620, mondoohq/mql#3125, grafana/dskit#1038
(4.7 % of the CPU of a service).`

// cloner returns the frame of the program, nearest the leaf, that calls a function that clones, and
// is not in one itself; -1 for none.
func cloner(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		if r.Stack[i].Owner.Kind == gocode.Main && flow.Clones(r.Stack[i-1].Function) && !flow.Clones(r.Stack[i].Function) {
			return i
		}
	}
	return -1
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, found: map[gocode.Pos]*clone{}, copies: map[gocode.Pos]bool{}}
	return finder.Line{Start: finder.Frames(s.user), Judge: s.judge}
}

// search remembers the lines that use a part of a clone.
type search struct {
	pass  *rule.Pass
	found map[gocode.Pos]*clone
	// copies are the lines that were looked at for copies of all elements.
	copies map[gocode.Pos]bool
}

// clone is a clone of which a part is used.
type clone struct {
	call   *ast.CallExpr
	parts  []string
	getter string // the function of the program that returns the clone; "" if it is made at the line
	flat   bool   // only the elements are copied, not what they refer to
}

// mostGetters is how many functions that return a clone are followed.
const mostGetters = 3

// user returns the frame of a row that uses a part of a clone: the one that makes it, or a caller
// of a function that returns it.
func (s *search) user(r *site.Row) int {
	getter, flat := "", false
	i := cloner(r)
	if i < 0 {
		if i = s.copier(r); i < 0 {
			return -1
		}
		if p, ok := s.pass.Syntax.At(r.Stack[i-1].File, r.Stack[i-1].Line); ok {
			getter, flat = syntax.FuncName(p), true
		}
	}
	for end := min(len(r.Stack), i+mostGetters); i < end && r.Stack[i].Owner.Kind == gocode.Main; i++ {
		p, ok := s.pass.Syntax.At(r.Stack[i].File, r.Stack[i].Line)
		if !ok {
			return -1
		}
		call := loops.CallTo(p, r.Stack[i-1].Function)
		if call == nil || getter == "" && !shallow(p, call) && funcname.Match(p.CalleeName(call), "strings.*", "bytes.*", "slices.*", "maps.*") {
			return -1
		}
		flat = flat || shallow(p, call)
		if parts := used(p, call); len(parts) > 0 && len(parts) <= mostParts && (!flat || once(p, call)) {
			s.found[gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}] = &clone{call, parts, getter, flat}
			return i
		}
		if !returned(p, call) {
			return -1
		}
		getter = syntax.FuncName(p)
	}
	return -1
}

// returned reports whether the function around a call only returns its result.
func returned(p *gocode.Place, call *ast.CallExpr) bool {
	whole := result(p, call)
	if _, ok := syntax.Parent(p, whole).(*ast.ReturnStmt); ok {
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, whole))
	if v == nil || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	reads := syntax.Reads(p, v)
	if len(reads) == 0 {
		return false
	}
	for _, id := range reads {
		if _, ok := syntax.Parent(p.Outer(), id).(*ast.ReturnStmt); !ok {
			return false
		}
	}
	return true
}

func (s *search) judge(c *finder.Case) bool {
	found := s.found[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if found == nil {
		return false
	}
	p, call := c.Place, found.call
	text := funcname.List(found.parts)
	c.Confidence = rule.Likely
	if found.getter != "" {
		copied := "a deep copy of everything"
		if found.flat {
			copied = "a copy of all elements"
		}
		c.Cause = fmt.Sprintf("%s returns %s, and %s uses only %s of it, on every call.", found.getter, copied, syntax.FuncName(p), text)
		c.Fix = fmt.Sprintf("Add a function beside %s that returns only what is needed, read under the same lock; or replace the value as a whole when it changes, in an atomic.Pointer, so that readers need no copy.", found.getter)
		return true
	}
	source := syntax.Receiver(call)
	if len(call.Args) == 1 {
		source = call.Args[0]
	}
	if source == nil {
		return false
	}
	copied := "all of " + syntax.Text(source) + " with everything that it refers to"
	if found.flat {
		copied = "all elements of " + syntax.Text(source)
	}
	c.Cause = fmt.Sprintf("%s copies %s on every call of %s, and only %s of the copy is used.",
		symbol.Short(p.CalleeName(call)), copied, syntax.FuncName(p), text)
	c.Fix = fmt.Sprintf("Read %s from %s itself, under the same lock, and clone only that part if it may be changed; or replace %[2]s as a whole when it changes, in an atomic.Pointer, so that readers need no copy.",
		text, syntax.Text(source))
	return true
}

// used returns the parts that a function uses of the result of a call, as source text; nil when it
// uses the whole, changes it, or uses none.
func used(p *gocode.Place, call *ast.CallExpr) []string {
	whole := result(p, call)
	if part, _ := chain(p, whole); part != whole {
		if !reads(p, part) {
			return nil
		}
		return []string{strings.TrimPrefix(syntax.Text(part), syntax.Text(whole))}
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, whole))
	if v == nil || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
		return nil
	}
	var parts []string
	for _, use := range syntax.Uses(p, v) {
		if syntax.Defines(p, use) {
			continue
		}
		part, ok := chain(p, use)
		if !ok || !reads(p, part) {
			return nil
		}
		if text := syntax.Text(part); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return parts
}

// result returns the value of a call, without a type assertion around it.
func result(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	var e ast.Expr = call
	for {
		switch n := syntax.Parent(p, e).(type) {
		case *ast.TypeAssertExpr:
			e = n
		case *ast.ParenExpr:
			e = n
		default:
			return e
		}
	}
}

// chain returns the largest expression that selects a part of e: fields, entries, and what getters
// (methods without parameters whose names begin with Get, and Get with a key) return. It reports
// false if there is none.
func chain(p *gocode.Place, e ast.Expr) (ast.Expr, bool) {
	part := e
	for {
		switch n := syntax.Parent(p, part).(type) {
		case *ast.ParenExpr, *ast.StarExpr:
			part = n.(ast.Expr)
			continue
		case *ast.IndexExpr:
			if n.X == part {
				part = n
				continue
			}
		case *ast.SelectorExpr:
			if v, ok := p.Object(n.Sel).(*types.Var); ok && v.IsField() {
				part = n
				continue
			}
			if call, ok := syntax.Parent(p, n).(*ast.CallExpr); ok && (len(call.Args) == 0 && strings.HasPrefix(n.Sel.Name, "Get") || n.Sel.Name == "Get") {
				part = call
				continue
			}
			return part, false // another method
		}
		return part, part != e
	}
}

// reads reports whether an expression is only read: not assigned to, not changed, and not ranged
// over, which is a use of all of it.
func reads(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.AssignStmt:
		return !slices.Contains(n.Lhs, e)
	case *ast.IncDecStmt, *ast.UnaryExpr:
		u, ok := n.(*ast.UnaryExpr)
		return ok && u.Op.String() != "&"
	case *ast.RangeStmt:
		return n.X != e
	case *ast.CallExpr:
		return n.Fun != e && p.CalleeName(n) != "delete" && p.CalleeName(n) != "append"
	}
	return true
}
