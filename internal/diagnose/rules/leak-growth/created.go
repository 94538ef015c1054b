package leakgrowth

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// created says how the object of another module is created whose method a line calls: a cache often
// has a limit or an age there. It returns "" if the source does not show that.
func created(pass *rule.Pass, s *site.Site) string {
	p := pass.Place(s)
	if p == nil || s.Owner.Kind != gocode.Main {
		return ""
	}
	for _, call := range syntax.Calls(p) {
		to, fn := syntax.Receiver(call), p.Callee(call)
		if to == nil || fn == nil || fn.Pkg() == nil || fn.Pkg() == p.Pkg || syntax.Named(p, to) == nil {
			continue
		}
		for _, from := range flow.Sources(pass.Syntax, p, to) {
			made, ok := ast.Unparen(from.Value).(*ast.CallExpr)
			if ok && from.Callee(made) != nil && from.Callee(made).Pkg() == fn.Pkg() {
				return fmt.Sprintf(" %s is created by %s (%s): see whether it can have a limit on the number of its entries, or on their age.",
					syntax.Text(to), syntax.Text(made), syntax.Where(from.Place, made.Pos()))
			}
		}
	}
	return ""
}

// into returns the line of the program that calls the code of another module's line in which most
// was allocated; nil for none.
func into(pass *rule.Pass, at *site.Site) *site.Site {
	bytes := map[site.Frame]int64{}
	var most *site.Frame
	for _, s := range pass.Table.Sites {
		for _, rows := range [][]*site.Row{s.Live, s.Allocs} {
			for _, r := range rows {
				i := outward(r)
				if i <= 0 || !through(r.Stack[:i], &at.Frame) {
					continue
				}
				f := r.Stack[i]
				if bytes[*f] += r.Value; most == nil || bytes[*f] > bytes[*most] {
					most = f
				}
			}
		}
	}
	if most == nil {
		return nil
	}
	return pass.Site(most)
}

// through reports whether a stack passes through a line.
func through(stack []*site.Frame, at *site.Frame) bool {
	for _, f := range stack {
		if f.Line == at.Line && f.File == at.File && f.Function == at.Function {
			return true
		}
	}
	return false
}
