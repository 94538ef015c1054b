package leakgrowth

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// keep is what retains the memory of a line.
type keep struct {
	name, words string
	unused      string // the function that would remove entries, and did not run
}

// keeper returns the field or package variable that the line inserts into or appends to, if nothing
// in the package removes anything from it, or nothing did while executions were counted; nil
// otherwise.
func keeper(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	var found *keep
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if e := stored(p, call); e != nil {
				found = cmp.Or(holds(pass, s, p, e), found)
			}
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || syntax.Line(p, a.Pos()) > p.Line || syntax.Line(p, a.End()) < p.Line {
			return true
		}
		for i, lhs := range a.Lhs {
			e := container(p, a, i, lhs)
			if e == nil {
				continue
			}
			found = cmp.Or(holds(pass, s, p, outermost(e)), found)
		}
		return true
	})
	return found
}

// holds returns what retains a line's memory, if that is a field or a package variable that nothing
// is ever removed from; nil otherwise.
func holds(pass *rule.Pass, s *site.Site, p *gocode.Place, e ast.Expr) *keep {
	v := kept(p, e)
	if v == nil {
		return nil
	}
	name := syntax.Text(e)
	out := shrinkers(p, v)
	if len(out) == 0 {
		return &keep{name: name, words: fmt.Sprintf("It is put into %s, and nothing in the package ever removes anything from it.", name)}
	}
	if unused := neverRan(pass, s, p, out); unused != "" {
		return &keep{name: name, unused: unused,
			words: fmt.Sprintf("It is put into %s. Only %s would remove something from it, and it never ran while executions were counted.", name, unused)}
	}
	return nil
}

// stored returns the sync.Map that a call on the place's line stores into; nil for other calls.
func stored(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if syntax.Line(p, call.Pos()) > p.Line || syntax.Line(p, call.End()) < p.Line {
		return nil
	}
	if !funcname.Match(p.CalleeName(call), "(*sync.Map).Store", "(*sync.Map).LoadOrStore", "(*sync.Map).Swap") {
		return nil
	}
	return syntax.Receiver(call)
}

// neverRan returns the names of the functions that remove entries, if none of them ran while
// executions were counted and the line did.
func neverRan(pass *rule.Pass, s *site.Site, p *gocode.Place, out []ast.Node) string {
	in, ok := evidence.Executions(pass, s.Frame)
	if !ok || in.PerUnit <= 0 {
		return ""
	}
	var names []string
	for _, n := range out {
		pos := p.Fset.Position(n.Pos())
		ran, ok := pass.Counts.Line(s.Owner.Package, pos.Filename, pos.Line)
		if !ok || ran.PerUnit > seldom*in.PerUnit {
			return ""
		}
		for _, f := range p.Files() {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && syntax.Inside(fn, n.Pos()) && !slices.Contains(names, fn.Name.Name) {
					names = append(names, fn.Name.Name)
				}
			}
		}
	}
	return strings.Replace(funcname.List(names), " and ", " or ", 1)
}

// container returns the map that an assignment inserts into, or the slice that it appends to.
func container(p *gocode.Place, a *ast.AssignStmt, i int, lhs ast.Expr) ast.Expr {
	if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		if t := p.TypeOf(x.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				return x.X
			}
		}
		return nil
	}
	if len(a.Lhs) != len(a.Rhs) {
		return nil
	}
	if call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], lhs) {
		return lhs
	}
	return nil
}

// outermost returns the container of containers: m of m[k][l].
func outermost(e ast.Expr) ast.Expr {
	for {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return e
		}
		e = x.X
	}
}

// kept returns the field or package variable that an expression names; nil for local variables,
// whose owner may drop them as a whole.
func kept(p *gocode.Place, e ast.Expr) *types.Var {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := p.Object(x).(*types.Var); ok && v.Parent() == p.Pkg.Scope() && (!v.Exported() || p.Pkg.Name() == "main") {
			return v
		}
	case *ast.SelectorExpr:
		// Other packages may remove entries from what they can name.
		if v, ok := p.Object(x.Sel).(*types.Var); ok && v.IsField() && (!v.Exported() || p.Pkg.Name() == "main") {
			if root, _ := syntax.Var(p, x); root != nil {
				return v
			}
		}
	}
	return nil
}

// shrinkers returns the nodes in the package that may remove entries from the variable or drop it:
// delete, clear, any other assignment than the append, its address, or its use as an argument or in
// a composite literal.
func shrinkers(p *gocode.Place, v *types.Var) []ast.Node {
	is := func(e ast.Expr) bool {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return p.Object(x) == v
		case *ast.SelectorExpr:
			return p.Object(x.Sel) == v
		}
		return false
	}
	var out []ast.Node
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			found := false
			switch n := n.(type) {
			case *ast.CallExpr:
				name := p.CalleeName(n)
				if to := syntax.Receiver(n); to != nil && is(to) {
					found = funcname.Match(name, "(*sync.Map).*Delete", "(*sync.Map).Clear")
				}
				for i, arg := range n.Args {
					if name == "delete" || name == "clear" {
						arg = outermost(arg)
					}
					found = found || is(arg) && name != "len" && name != "cap" && !(name == "append" && i == 0)
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					found = found || is(lhs) && !grows(p, n, i)
				}
				for _, rhs := range n.Rhs {
					found = found || is(rhs)
				}
			case *ast.ReturnStmt:
				for _, e := range n.Results {
					found = found || is(e)
				}
			case *ast.UnaryExpr:
				found = n.Op == token.AND && is(n.X)
			}
			if found {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// grows reports whether an assignment appends to its left side.
func grows(p *gocode.Place, a *ast.AssignStmt, i int) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], a.Lhs[i])
}
