package columnsunread

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// loaders are functions of gorm that load relations, as profiles name them.
var loaders = []string{"gorm.io/gorm/callbacks.Preload*", "gorm.io/gorm/callbacks.preload*"}

// related is a line whose query loads relations that nothing reads.
type related struct {
	typ    string
	unread []string // fields
	all    bool     // no relation that it loads is read
}

// relations returns the line to look for: a query that loads relations, with the rows of these.
func (s *search) relations() finder.Line {
	lines := finder.Remember(s.pass, s.related)
	start := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind != gocode.Main || !funcname.Match(r.Stack[i-1].Function, scanners...) || lines.At(r.Stack[i]) == nil {
				continue
			}
			if slices.ContainsFunc(r.Stack[:i], func(f *site.Frame) bool { return funcname.Match(f.Function, loaders...) }) {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		q := lines.At(&c.Site.Frame)
		if q == nil {
			return false
		}
		names := funcname.List(q.unread)
		c.Callees = loaders
		c.Confidence = rule.Likely // which of several relations costs most is not known
		c.Cause = fmt.Sprintf("%s loads %s of each %s with queries of their own, but no code that ran reads %s: their rows are read, converted and attached for nothing.",
			syntax.FuncName(c.Place), names, q.typ, names)
		c.Fix = fmt.Sprintf("Leave out Preload of %s here, and load it in a function of its own for the callers that read it.", names)
		c.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.7, High: 1}
		if !q.all {
			c.Fraction = &rule.Fraction{Expect: 0.5, Low: 0.1, High: 0.98}
		}
		return true
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

// related returns the relations that the query of a line loads and that no code reads; nil for
// none.
func (s *search) related(f *site.Frame, p *gocode.Place) *related {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || !composes(p, call) {
			continue
		}
		of := fills(p, call, fn)
		if of == nil || s.stored(f.Owner.Module, of) {
			continue
		}
		q := &related{typ: syntax.TypeText(p, of), all: true}
		for _, name := range preloaded(p, call) {
			field := fieldOf(of, name)
			if field == nil {
				return nil
			}
			if runs, known := s.runs(f.Owner.Module, field, of); !known || runs > 0 {
				q.all = false
			} else {
				q.unread = append(q.unread, name)
			}
		}
		if len(q.unread) > 0 {
			return q
		}
	}
	return nil
}

// preloaded returns the relations that a chain of calls names, also in a local variable.
func preloaded(p *gocode.Place, call *ast.CallExpr) (names []string) {
	for to := syntax.Receiver(call); to != nil; {
		up, ok := syntax.Origin(p, to).(*ast.CallExpr)
		if !ok {
			break
		}
		if p.CalleeName(up) == "(*gorm.io/gorm.DB).Preload" {
			text, _ := syntax.ConstString(p, up.Args[0])
			name, _, _ := strings.Cut(text, ".") // Orders.Items loads both
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		to = syntax.Receiver(up)
	}
	return names
}

// fieldOf returns the field of a struct with a name; nil for none.
func fieldOf(of types.Type, name string) *types.Var {
	t := of.Underlying().(*types.Struct)
	for f := range t.Fields() {
		if f.Name() == name {
			return f
		}
	}
	return nil
}
