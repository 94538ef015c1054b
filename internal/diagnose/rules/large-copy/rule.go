// Package largecopy finds large values that are copied only to be read.
package largecopy

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is large-copy.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "large-copy",
		Kind:  rule.CPU,
		Title: "Large values copied whole",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are those of the range line: the copy and a little of the loop itself.
				// Reading the fields in place then has some of the cache misses that the copy had.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.9},
			},
			Start: finder.Sites(copying),
			Judge: judge,
		},
	}
}

const doc = `for _, v := range xs copies each element into v. The compiler omits unused parts
of small elements. It copies an element of 128 bytes or more as a whole, and
reports that ("copy" in its optimiser log). When the body reads a few fields,
most of the copy is wasted.

Use the element in place: for i := range xs { v := &xs[i] … }, or split the
struct so that the slice holds smaller elements. A receiver or parameter that is
a large struct or array is copied for each call too; make it a pointer. An array
that a function returns is cleared and copied whole, also where few of its
elements are used: return a slice, or fill one that the caller passes.

It is fine when the copy is kept, or protects from changes of the original while
it is read. The rule reports loops that read fields of v and do nothing else
with it (also over arrays and maps), variables that get an element (v := xs[i])
in functions that lock nothing, elements that are copied out of a list or a map,
changed and put back (v := m[k]; v.n++; m[k] = v), and calls that pass 1 KiB or
more to a function of the same package that only reads it, or get 16 KiB or more
from one, where the copy has most of the CPU of its line.

Seen in the field: golang/go#31588, ariejan/i6502#11 (13.5 s became 4.9),
go-critic/go-critic#82, microsoft/go-mssqldb#316, jasonlvhit/gocron#161 (a result
of 10,000 pointers).`

// copies are the runtime's functions for large values. The line's own instructions copy small ones.
var copies = []string{"runtime.memmove", "runtime.duffcopy", "runtime.typedmemmove", "runtime.wbMove"}

// copying selects the CPU of the line itself and of the copies that it makes.
func copying(s *site.Site) rule.Match {
	m := finder.Take(s, func(r *site.Row) bool { return stacks.Leaf(r) || stacks.Calls(r, copies...) }, copies...)
	m.Allocs, m.Live = nil, nil
	return m
}

func judge(c *finder.Case) bool {
	size := copied(c.Pass, c.Site)
	if size == "" {
		return result(c)
	}
	e, u := elementAt(c.Place), updateAt(c.Place)
	switch {
	case e != nil:
		c.Cause, c.Fix = e.words(size)
	case u != nil:
		c.Cause, c.Fix = u.words(size)
	default:
		return byValue(c) || result(c)
	}
	if e != nil && e.kept || e == nil && u.kept {
		c.Confidence = rule.Likely // the type of the map has to change
	}
	c.Evidence = []rule.Evidence{{What: evidence.CompilerSaid, Value: "copy of " + size, Command: "go build -gcflags=-json=0,DIR " + c.Site.Owner.Package}}
	return true
}

// copied returns the size of the copy that the compiler reports at a site: "200 bytes".
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

// readsField reports whether a use of the element reads a field, v.f, and does not slice it. A
// method call would copy the value as well.
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
