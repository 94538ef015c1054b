// Package largecopy finds loops that copy large elements only to read a few fields.
package largecopy

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is large-copy.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "large-copy",
		Kind:  rule.CPU,
		Title: "Large elements copied in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// The rows are the line of the range: the copy, and a little of the loop's own. Reading
				// what is used then costs some of the misses that the copy had before.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.9},
			},
			Loop: find,
		},
	}
}

const doc = `for _, v := range xs copies each element into v. The compiler omits unused parts
of small elements. It copies an element of 128 bytes or more as a whole, and
reports that ("copy" in its optimiser log). When the body reads a few fields,
most of the copy is wasted.

Use the element in place: for i := range xs { v := &xs[i] … }, or make the slice
one of smaller parts.

It is fine when the body uses the whole element, keeps it, or changes the slice
while it reads the copy: the rule speaks only where fields of v are read and
nothing else happens to it.

Seen in the field: golang/go#31588, ariejan/i6502#11 (13.5 s became 4.9),
go-critic/go-critic#82.`

// copies are what copies a large value; small ones are copied by instructions of the line itself.
var copies = []string{"runtime.memmove", "runtime.duffcopy", "runtime.typedmemmove", "runtime.wbMove"}

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		m := finder.Take(s, func(r *site.Row) bool { return stacks.Leaf(r) || stacks.Calls(r, copies...) }, copies...)
		m.Allocs, m.Live = nil, nil
		if m.Empty() {
			continue
		}
		place := p.Place(s)
		if place == nil {
			continue
		}
		size := copied(p, s)
		loop := fieldsOnly(place)
		if size == "" || loop == nil {
			continue
		}
		v, xs := syntax.Text(loop.Value), syntax.Text(loop.X)
		m.Cause = fmt.Sprintf("Every iteration copies an element of %s into %s (%s, by the compiler), of which the body reads single fields.", xs, v, size)
		m.Fix = fmt.Sprintf("Read it in place: for i := range %s { %s := &%s[i] … }.", xs, v, xs)
		m.Confidence = evidence.Weigh(p, s, false)
		m.Evidence = []rule.Evidence{{What: evidence.CompilerSaid, Value: "copy of " + size, Command: "go build -gcflags=-json=0,DIR " + s.Owner.Package}}
		matches = append(matches, m)
	}
	return matches, nil
}

// copied returns the size of the copy that the compiler makes at a site: "200 bytes".
func copied(p *rule.Pass, s *site.Site) string {
	if p.Facts == nil {
		return ""
	}
	for _, f := range p.Facts.At(s.File, s.Line) {
		if f.Code == "copy" {
			return strings.TrimSpace(f.Message)
		}
	}
	return ""
}

// fieldsOnly returns the range statement on the line when its value is a struct, its body does
// nothing with it but read fields, and the slice stays as it is.
func fieldsOnly(p *gocode.Place) *ast.RangeStmt {
	var found *ast.RangeStmt
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if ok && found == nil && syntax.Line(p, r.For) == p.Line && readsFields(p, r) {
			found = r
		}
		return found == nil
	})
	return found
}

func readsFields(p *gocode.Place, r *ast.RangeStmt) bool {
	id, ok := r.Value.(*ast.Ident)
	if !ok || r.Tok != token.DEFINE {
		return false
	}
	if _, slice := p.TypeOf(r.X).Underlying().(*types.Slice); !slice {
		return false
	}
	v := p.Object(id)
	if v == nil {
		return false
	}
	for _, use := range syntax.Uses(p, v) {
		if use != id && !readsField(p, use) {
			return false
		}
	}
	return !written(p, r)
}

// readsField reports whether a use of the element is v.f, read, and f is not an array
// that would be copied or sliced; a method of the value would copy it as well.
func readsField(p *gocode.Place, use *ast.Ident) bool {
	path := p.Enclosing(use)
	if len(path) < 2 {
		return false
	}
	sel, ok := path[0].(*ast.SelectorExpr)
	if !ok || sel.X != use {
		return false
	}
	if s := p.Info.Selections[sel]; s == nil || s.Kind() != types.FieldVal {
		return false
	}
	switch n := path[1].(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if lhs == sel {
				return false
			}
		}
	case *ast.IncDecStmt, *ast.SliceExpr:
		return false
	case *ast.UnaryExpr:
		return n.Op != token.AND
	}
	return true
}

// written reports whether the loop writes to the slice that it ranges over, or hands it on.
func written(p *gocode.Place, r *ast.RangeStmt) bool {
	xs, _ := syntax.Var(p, r.X)
	if xs == nil {
		return true
	}
	found := false
	ast.Inspect(r.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || p.Object(id) != xs {
			return !found
		}
		for _, up := range p.Enclosing(id) {
			if up == r {
				break
			}
			switch up := up.(type) {
			case *ast.AssignStmt:
				for _, lhs := range up.Lhs {
					found = found || syntax.Within(lhs, id)
				}
			case *ast.UnaryExpr:
				found = found || up.Op == token.AND
			case *ast.CallExpr:
				found = found || p.CalleeName(up) != "len"
			}
		}
		return !found
	})
	return found
}
