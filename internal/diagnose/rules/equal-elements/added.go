package equalelements

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
)

// search examines lines of one recording.
type search struct{ pass *rule.Pass }

// list is a list that gets equal elements.
type list struct {
	place *gocode.Place // of the line that appends
	to    ast.Expr      // the list
	elem  types.Type
	in    *inputs.Function // that appends
	equal float64          // share of the elements that were there
	loops []loop           // that go through it
}

// look returns the list that a line appends mostly equal elements to; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *list {
	in := s.pass.Inputs.Of(f.Function)
	if in == nil || in.InRequest < leastCalls || in.Hashed < in.Calls || !in.ByValue() || p.Decl == nil || p.Func != p.Decl || p.Decl.Recv == nil {
		return nil
	}
	equal := 1 - float64(in.StablePerRequest)/float64(in.InRequest)
	if in.StablePerRequest == 0 || equal < leastEqual {
		return nil
	}
	to, value := appended(p)
	if to == nil || !always(p, to) || !s.decided(p, value, 0) {
		return nil
	}
	l := &list{place: p, to: to, elem: p.TypeOf(value), in: in, equal: equal}
	if l.elem == nil || !types.Comparable(l.elem) {
		return nil
	}
	r := &readers{pass: s.pass, seen: map[types.Object]bool{}}
	r.field(p, kept.Var(p, to))
	if l.loops = r.loops; r.refused || !r.keyed {
		return nil
	}
	return l
}

// appended returns the receiver's field to which a line appends one element, and the element.
func appended(p *gocode.Place) (to, value ast.Expr) {
	for _, call := range syntax.Calls(p) {
		if p.CalleeName(call) != "append" || len(call.Args) != 2 || call.Ellipsis.IsValid() {
			continue
		}
		lhs := syntax.AssignedTo(p, call)
		v := kept.Var(p, call.Args[0])
		if lhs != nil && v != nil && v.IsField() && kept.Var(p, lhs) == v {
			return lhs, call.Args[1]
		}
	}
	return nil, nil
}

// always reports whether the function of a place executes a node once in each call: no condition,
// no loop, and nothing that leaves before.
func always(p *gocode.Place, n ast.Node) bool {
	for _, stmt := range p.Decl.Body.List {
		if syntax.Within(stmt, n) {
			a, ok := stmt.(*ast.AssignStmt)
			return ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return e == n })
		}
		leaves := false
		ast.Inspect(stmt, func(n ast.Node) bool {
			_, returns := n.(*ast.ReturnStmt)
			leaves = leaves || returns
			return !leaves
		})
		if leaves {
			return false
		}
	}
	return false
}

// decided reports whether the parameters of a function alone decide the value of an expression.
func (s *search) decided(p *gocode.Place, e ast.Expr, depth int) bool {
	const deepest = 4
	if depth > deepest {
		return false
	}
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ok = false
		case *ast.CallExpr:
			_, conversion := p.Conversion(n)
			ok = ok && (conversion || s.computes(p, n))
		case *ast.Ident:
			v, is := p.Object(n).(*types.Var)
			switch {
			case !is || v.IsField():
			case !syntax.Local(p, v):
				ok = false
			case syntax.Param(p, v):
				ok = ok && len(syntax.Assigned(p, v)) == 0 && !syntax.Inside(p.Decl.Recv, v.Pos())
			default:
				from := syntax.Origin(p, n)
				ok = ok && from != ast.Expr(n) && s.decided(p, from, depth+1)
			}
		}
		return ok
	})
	return ok
}

// computes reports whether a call only computes a result of its arguments.
func (s *search) computes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		name := p.CalleeName(call)
		return name == "len" || name == "min" || name == "max"
	}
	if fn.Pkg() == p.Pkg && fn.Signature().Recv() == nil {
		decl := p.Declaration(fn)
		return decl != nil && decl.Body != nil && effects.LooksPure(p.Entry(decl)) || s.returnsTheSame(fn)
	}
	return deterministic(fn)
}

// returnsTheSame reports whether a function returned the same for each input.
func (s *search) returnsTheSame(fn *types.Func) bool {
	const fewest = 100
	for i := range s.pass.Inputs.Functions {
		in := &s.pass.Inputs.Functions[i]
		if funcname.Typed(in.Name) == gocode.FullName(fn) || strings.HasPrefix(in.Name, "main.") && in.Package+in.Name[len("main"):] == gocode.FullName(fn) {
			return in.ByValue() && in.Compared >= fewest && in.Same == in.Compared
		}
	}
	return false
}
