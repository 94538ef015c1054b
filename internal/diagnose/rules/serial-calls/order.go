package serialcalls

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// independent returns the calls of the function that could run at the same time and save most.
func independent(f *awaited.Function) (best group) {
	var steps []*awaited.Step
	for _, s := range f.Steps {
		if !f.Deferred(s) && !awaited.Changes(f.Place, s.Call) && !permits(f.Place, s.Call) {
			steps = append(steps, s)
		}
	}
	for i, first := range steps {
		g := group{first}
		for _, s := range steps[i+1:] {
			free := s.Frame.Line != g[len(g)-1].Frame.Line
			for _, earlier := range g {
				free = free && !syntax.Exclusive(f.Place, earlier.Call, s.Call) && !needs(f.Place, earlier.Call, s.Call)
			}
			if free {
				g = append(g, s)
			}
		}
		if len(g) > 1 && (best == nil || g.saved() > best.saved()) {
			best = g
		}
	}
	return best
}

// permits reports whether only the error of a call is used, of several results: it decides whether
// what follows may run.
func permits(p *gocode.Place, call *ast.CallExpr) bool {
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || len(a.Lhs) < 2 {
		return false
	}
	for _, e := range a.Lhs {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" && !syntax.IsError(p.TypeOf(id)) {
			return false
		}
	}
	return true
}

// needs reports whether a call may need an earlier one to be over: it uses a result of it, or what
// was computed from one, or runs only under a condition on it.
func needs(p *gocode.Place, earlier, later *ast.CallExpr) bool {
	t := taint{Place: p, of: map[types.Object][]string{}, errors: map[types.Object]bool{}}
	for _, arg := range earlier.Args {
		t.address(arg)
	}
	for _, n := range p.Enclosing(earlier) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			t.targets(n.Lhs)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				t.mark(id)
			}
		case *ast.IfStmt:
			if syntax.Within(n.Cond, earlier) {
				return true
			}
			continue
		case *ast.SwitchStmt:
			if n.Tag != nil && syntax.Within(n.Tag, earlier) {
				return true
			}
			continue
		case *ast.ReturnStmt:
			return true
		case ast.Stmt:
		default:
			continue
		}
		break
	}
	return t.between(earlier, later) || t.uses(later) || t.guards(later)
}

// taint is what depends on the result of a call: variables, and parts of them as the source writes
// them. Errors are separate: that the function returns when a call fails does not matter, because
// both may fail.
type taint struct {
	*gocode.Place
	of     map[types.Object][]string
	errors map[types.Object]bool
}

// mark adds what an expression names.
func (t *taint) mark(e ast.Expr) {
	v, _ := syntax.Var(t.Place, e)
	if v == nil || v.Name() == "_" {
		return
	}
	if syntax.IsError(v.Type()) {
		t.errors[v] = true
		return
	}
	t.of[v] = append(t.of[v], types.ExprString(ast.Unparen(e)))
}

func (t *taint) targets(list []ast.Expr) {
	for _, e := range list {
		t.mark(e)
	}
}

// address adds the variable whose address is passed to a function.
func (t *taint) address(arg ast.Expr) {
	if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
		t.mark(u.X)
	}
}

// uses reports whether a node uses something that depends on the result.
func (t *taint) uses(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || found {
			return !found
		}
		switch e.(type) {
		case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		default:
			return true
		}
		v, _ := syntax.Var(t.Place, e)
		parts := t.of[v]
		if v == nil || parts == nil {
			return true
		}
		text := types.ExprString(ast.Unparen(e))
		for _, part := range parts {
			found = found || text == part || below(text, part) || below(part, text)
		}
		return false // the variable at its root is the same
	})
	return found
}

// below reports whether an expression is a part of another: page.User.Name of page.User.
func below(text, of string) bool {
	rest, ok := strings.CutPrefix(text, of)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// between follows the result through the statements between the calls. It reports whether one of
// them leaves the function or the block, depending on the result.
func (t *taint) between(earlier, later *ast.CallExpr) (leaves bool) {
	ast.Inspect(syntax.Body(t.Place), func(n ast.Node) bool {
		if n == nil || leaves || n.End() <= earlier.Pos() || n.Pos() >= later.Pos() {
			return false
		}
		if n.Pos() < earlier.End() {
			cond, ok := n.(*ast.IfStmt)
			leaves = ok && cond.Init != nil && syntax.Within(cond.Init, earlier) && !syntax.Within(cond, later) && t.ends(cond)
			return !leaves
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if rhs := n.Rhs[min(i, len(n.Rhs)-1)]; t.uses(rhs) {
					t.mark(lhs)
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if len(n.Values) > 0 && t.uses(n.Values[min(i, len(n.Values)-1)]) {
					t.mark(id)
				}
			}
		case *ast.RangeStmt:
			if t.uses(n.X) {
				t.targets([]ast.Expr{n.Key, n.Value})
			}
		case *ast.CallExpr:
			t.passed(n)
		case *ast.IfStmt:
			leaves = t.ends(n)
		case *ast.SwitchStmt:
			leaves = (n.Tag == nil || t.decides(n.Tag)) && t.uses(n) && t.departs(n)
		}
		return !leaves
	})
	return leaves
}

// ends reports whether an if statement leaves the function, depending on the result.
func (t *taint) ends(n *ast.IfStmt) bool {
	return (t.decides(n.Cond) || t.succeeded(n.Cond)) && t.departs(n)
}

// passed adds what a call may fill from the result: what it gets the address of, and the local
// variable whose method it is.
func (t *taint) passed(call *ast.CallExpr) {
	if !t.uses(call) {
		return
	}
	for _, arg := range call.Args {
		t.address(arg)
	}
	to := syntax.Receiver(call)
	if to == nil {
		return
	}
	if v := syntax.LocalVar(t.Place, to); v != nil && !syntax.Param(t.Place, v) {
		t.mark(to)
	}
}

// decides reports whether a condition depends on the result, other than on there being none: on
// nil, or the status of a response.
func (t *taint) decides(cond ast.Expr) bool {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok {
		switch b.Op {
		case token.LAND, token.LOR:
			return t.decides(b.X) || t.decides(b.Y)
		case token.EQL:
			if isNil(t.Place, b.Y) {
				return false
			}
		}
		if sel, ok := ast.Unparen(b.X).(*ast.SelectorExpr); ok && sel.Sel.Name == "StatusCode" {
			return false
		}
	}
	return t.uses(cond)
}

// succeeded reports whether a condition is that there is no error: what follows is for a failure.
func (t *taint) succeeded(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && b.Op == token.EQL && isNil(t.Place, b.Y) && t.fails(b.X)
}

// fails reports whether an expression uses an error of the call.
func (t *taint) fails(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && t.errors[t.Object(id)]
		return !found
	})
	return found
}

// departs reports whether a branch of a statement leaves the function, a loop, or the process. What
// its branches assign depends on the result as well.
func (t *taint) departs(branch ast.Node) (found bool) {
	ast.Inspect(branch, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		case *ast.AssignStmt:
			t.targets(n.Lhs)
		case *ast.CallExpr:
			name := t.CalleeName(n)
			found = found || name == "panic" || name == "os.Exit" || strings.HasPrefix(name, "log.Fatal")
		}
		return true
	})
	return found
}

// guards reports whether a call runs only under a condition on the result, or on a failure.
func (t *taint) guards(call *ast.CallExpr) bool {
	for _, n := range t.Enclosing(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if syntax.Within(n.Body, call) && (t.uses(n.Cond) || t.fails(n.Cond)) || n.Else != nil && syntax.Within(n.Else, call) && t.uses(n.Cond) {
				return true
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && t.uses(n.Tag) {
				return true
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if t.uses(e) {
					return true
				}
			}
		}
	}
	return false
}

func isNil(p *gocode.Place, e ast.Expr) bool {
	tv, ok := p.Info.Types[e]
	return ok && tv.IsNil()
}
