package wholeperchange

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostlyOne is the minimum part of a copy's cost that must come from a caller which replaces the
// original by it.
const mostlyOne = 0.8

// stored reports whether the copy replaces the original: in the function that makes it, or in the
// caller that gets it.
func (c *copied) stored(m *finder.Case) bool {
	if c.returned == nil {
		return true
	}
	return c.mostly(m, 1, func(stack []*site.Frame) bool { return c.storedAt(m, stack[1]) })
}

// mostly reports whether a test accepts the stacks of most of the copies' cost, which start at the
// function that makes the copy. The test looks at so many callers.
func (c *copied) mostly(m *finder.Case, callers int, test func(stack []*site.Frame) bool) bool {
	rows := m.Allocs
	if len(rows) == 0 {
		rows = m.CPU
	}
	judged := map[string]bool{}
	var accepted, all int64
	for _, r := range rows {
		all += r.Value
		i := 0
		for i < len(r.Stack) && r.Stack[i].Function != m.Site.Function {
			i++
		}
		if i+1 >= len(r.Stack) {
			continue
		}
		at := ""
		for _, f := range r.Stack[i+1 : min(len(r.Stack), i+1+callers)] {
			at += fmt.Sprintf("%s:%d ", f.File, f.Line)
		}
		fine, known := judged[at]
		if !known {
			fine = test(r.Stack[i:])
			judged[at] = fine
		}
		if fine {
			accepted += r.Value
		}
	}
	return all > 0 && float64(accepted) >= mostlyOne*float64(all)
}

// storedAt reports whether a caller's line replaces what it passes by what it gets:
// s.items = with(s.items, x), or p.Store(p.Load().with(x)).
func (c *copied) storedAt(m *finder.Case, f *site.Frame) bool {
	p := m.Pass.Place(&site.Site{Frame: *f})
	if p == nil {
		return false
	}
	for _, call := range syntax.CallsTo(p, m.Site.Function) {
		holder := holderOf(p, given(m.Place, call, c.returned), 4)
		if holder == nil {
			continue
		}
		got := &copied{made: call, by: call}
		if to := syntax.AssignedTo(p, call); to != nil {
			if syntax.Named(p, to) == holder {
				return true
			}
			if got.next = syntax.LocalVar(p, to); got.next == nil {
				continue
			}
		}
		found := false
		ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				found = found || got.next != nil && got.storedBy(p, n, holder) || syntax.Within(n, call) && n != call && stores(p, n, holder)
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if got.next != nil && syntax.Named(p, lhs) == holder && got.in(p, n.Rhs[min(i, len(n.Rhs)-1)]) {
						found = true
					}
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// given returns what a call passes for a parameter or the receiver of the place's function.
func given(p *gocode.Place, call *ast.CallExpr, v *types.Var) ast.Expr {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return nil
	}
	if sig.Recv() == v {
		return syntax.Receiver(call)
	}
	if i := syntax.ParamIndex(sig, v); i >= 0 && i < len(call.Args) {
		return call.Args[i]
	}
	return nil
}
