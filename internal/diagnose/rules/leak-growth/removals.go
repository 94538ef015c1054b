package leakgrowth

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// element reports whether an expression is an element: m[k].
func element(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.IndexExpr)
	return ok
}

// cut reports whether a list lacks elements of another, which it is made of: append(l[:i],
// l[i+1:]...), slices.Delete(l, i, i+1), l[:n], nil, or a variable that is set to one of these.
func cut(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return true
	case *ast.Ident:
		if p.Info.Types[e].IsNil() {
			return true
		}
		v := syntax.LocalVar(p, e)
		if v == nil {
			return false
		}
		at := *p
		if decl := around(p, e.Pos()); decl != nil {
			at = *p.Entry(decl)
		}
		return slices.ContainsFunc(syntax.Assigned(&at, v), func(value ast.Expr) bool {
			_, name := ast.Unparen(value).(*ast.Ident)
			return !name && cut(&at, value)
		})
	case *ast.CallExpr:
		if funcname.Match(p.CalleeName(e), "slices.Delete", "slices.DeleteFunc") {
			return true
		}
		if p.CalleeName(e) != "append" {
			return false
		}
		_, part := ast.Unparen(e.Args[0]).(*ast.SliceExpr)
		return part
	}
	return false
}

// fromElement reports whether a node removes something from an element of a container, a map or a
// list itself, and not from the container: delete(m[k], l).
func fromElement(p *gocode.Place, n ast.Node) bool {
	if a, ok := n.(*ast.AssignStmt); ok {
		return !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return !element(e) })
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || !funcname.Match(p.CalleeName(call), "delete", "clear") {
		return false
	}
	_, element := ast.Unparen(call.Args[0]).(*ast.IndexExpr)
	return element
}

// removed returns how many removals of entries there were per insertion, while executions were
// counted, and the functions that remove them. It returns false if that is unknown: a removal may
// have removed several at once.
func removed(pass *rule.Pass, s *site.Site, p *gocode.Place, in insertion, out []ast.Node) (share float64, names string, ok bool) {
	at := p.Fset.Position(in.at)
	put, ok := pass.Counts.Line(s.Owner.Package, at.Filename, at.Line)
	if !ok || put.PerUnit <= 0 {
		return 0, "", false
	}
	var all []string
	for _, n := range out {
		pos := p.Fset.Position(n.Pos())
		ran, ok := pass.Counts.Line(s.Owner.Package, pos.Filename, pos.Line)
		if !ok || !single(p, n) && ran.PerUnit > seldom*put.PerUnit {
			return 0, "", false
		}
		share += ran.PerUnit / put.PerUnit
		for _, f := range p.Files() {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && syntax.Inside(fn, n.Pos()) && !slices.Contains(all, fn.Name.Name) {
					all = append(all, fn.Name.Name)
				}
			}
		}
	}
	return share, strings.Replace(funcname.List(all), " and ", " or ", 1), true
}

// queue reports whether all nodes that remove something take the first element: q = q[1:].
func queue(out []ast.Node) bool {
	return !slices.ContainsFunc(out, func(n ast.Node) bool { return !takesFirst(n) })
}

// takesFirst reports whether a node is the assignment q = q[1:].
func takesFirst(n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	s, ok := ast.Unparen(a.Rhs[0]).(*ast.SliceExpr)
	if !ok || s.Low == nil || s.High != nil || types.ExprString(s.X) != types.ExprString(a.Lhs[0]) {
		return false
	}
	low, ok := s.Low.(*ast.BasicLit)
	return ok && low.Value == "1"
}

// single reports whether a node removes one entry at most.
func single(p *gocode.Place, n ast.Node) bool {
	if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		return takesFirst(n) || ok && (funcname.Match(p.CalleeName(call), "slices.Delete") || p.CalleeName(call) == "append" && call.Ellipsis.IsValid() && cut(p, call))
	}
	call, ok := n.(*ast.CallExpr)
	return takesFirst(n) || ok && funcname.Match(p.CalleeName(call), "delete", "(*sync.Map).Delete", "(*sync.Map).LoadAndDelete", "(*sync.Map).CompareAndDelete")
}

// shrinkers returns the nodes in the package that may remove entries from the variable or drop it:
// delete, clear, any other assignment than the append, its address, or its use as an argument or in
// a composite literal.
func shrinkers(p *gocode.Place, of *owner) []ast.Node {
	is := func(e ast.Expr) bool { return of.is(p, e) }
	var out []ast.Node
	first := map[ast.Stmt]bool{} // if m == nil { m = map[…]…{} }
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			found := false
			switch n := n.(type) {
			case *ast.CallExpr:
				name := p.CalleeName(n)
				if to := syntax.Receiver(n); to != nil && is(to) {
					found = funcname.Match(name, "(*sync.Map).*Delete", "(*sync.Map).Clear", "(*container/list.List).Remove", "(*container/list.List).Init")
				}
				for i, arg := range n.Args {
					if name == "delete" || name == "clear" {
						arg = outermost(arg)
					}
					found = found || is(arg) && !(name == "append" && i == 0) && !funcname.Match(name, reading()...)
				}
			case *ast.IfStmt:
				if b, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr); ok && b.Op == token.EQL && p.Info.Types[b.Y].IsNil() && is(b.X) {
					for _, s := range n.Body.List {
						first[s] = true
					}
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					found = found || is(lhs) && !grows(p, n, i) && !first[n] || element(lhs) && is(outermost(lhs)) && len(n.Lhs) == len(n.Rhs) && cut(p, n.Rhs[i])
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

// reading are functions that only read a container, or copy it.
func reading() []string {
	return []string{
		"len", "cap", "copy", "slices.Contains*", "slices.Index*", "slices.Equal*", "slices.Compare*", "slices.Max*", "slices.Min*", "slices.BinarySearch*",
		"slices.Sort*", "slices.IsSorted*", "slices.Clone", "slices.Values", "slices.All", "maps.Clone", "maps.Keys", "maps.Values", "maps.All", "maps.Equal*",
		"sort.*", "strings.Join", "bytes.Join", "fmt.*", "log.*", "encoding/json.Marshal*", "(*encoding/json.Encoder).Encode",
	}
}
