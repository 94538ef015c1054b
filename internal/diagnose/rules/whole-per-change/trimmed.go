package wholeperchange

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastKept is the share of the elements that a list keeps which is copied to drop some.
const leastKept = 0.9

// trimmed is a list that is copied as a whole to drop a few of its elements.
type trimmed struct {
	list     ast.Expr
	elements float64 // of each copy; 0 if the allocations show it
	dropped  float64 // each time
	copies   float64 // for each unit of work
	tested   bool    // a test selects what stays; else the list keeps its last elements
	elem     types.Type
}

// trimmedAt returns the list that a line copies to drop a few elements; nil for none.
func (s *search) trimmedAt(f *site.Frame, p *gocode.Place) *trimmed {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	p = p.Outer()
	var found *trimmed
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil || found != nil || syntax.Line(p, n.Pos()) > p.Line || p.Line > syntax.Line(p, n.End()) {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = s.cut(p, n)
		case *ast.RangeStmt:
			found = s.filter(f, p, n)
		}
		return true
	})
	return found
}

// kept returns the field or package variable that an expression names; nil for others.
func kept(p *gocode.Place, e ast.Expr) *types.Var {
	v := syntax.Named(p, e)
	if v == nil || !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return nil
	}
	return v
}

// cut returns the list of list = append([]T(nil), list[k:]...).
func (s *search) cut(p *gocode.Place, a *ast.AssignStmt) *trimmed {
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return nil
	}
	v := kept(p, a.Lhs[0])
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if v == nil || !ok || len(call.Args) == 0 {
		return nil
	}
	from := cloned(p, call)
	if from == nil {
		return nil
	}
	part, ok := ast.Unparen(from).(*ast.SliceExpr)
	if !ok || part.Low == nil || part.High != nil || !syntax.Same(p, part.X, a.Lhs[0]) {
		return nil
	}
	runs, ok := evidence.ReachedAt(s.pass, p, a.Pos())
	added, known := s.added(p, v)
	if !ok || runs <= 0 || !known {
		return nil
	}
	return &trimmed{list: a.Lhs[0], copies: runs, dropped: added / runs, elem: syntax.Elem(v.Type())}
}

// added returns how many elements the package appends to a list for each unit of work; false if it
// appends other lists to it.
func (s *search) added(p *gocode.Place, v *types.Var) (n float64, known bool) {
	known = true
	for _, f := range p.Files() {
		ast.Inspect(f, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || p.CalleeName(call) != "append" || kept(p, call.Args[0]) != v {
				return true
			}
			runs, ok := evidence.ReachedAt(s.pass, p, call.Pos())
			known = known && ok && !call.Ellipsis.IsValid()
			n += runs * float64(len(call.Args)-1)
			return true
		})
	}
	return n, known && n > 0
}

// filter returns the list that a loop copies to another one, which replaces it, if the elements
// pass a test.
func (s *search) filter(f *site.Frame, p *gocode.Place, loop *ast.RangeStmt) *trimmed {
	v := kept(p, loop.X)
	if v == nil || syntax.Elem(v.Type()) == nil {
		return nil
	}
	var add *ast.AssignStmt
	several := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && syntax.LocalVar(p, call.Args[1]) != nil {
				several, add = several || add != nil, a
			}
		}
		return true
	})
	if add == nil || several {
		return nil
	}
	to := syntax.LocalVar(p, add.Lhs[0])
	e, ok := loops.ElementsOf(p, loop)
	if to == nil || !ok || !e.Is(p, ast.Unparen(add.Rhs[0]).(*ast.CallExpr).Args[1]) || !replacedBy(p, loop, to) || remembers(p, loop, add) {
		return nil
	}
	l, ok1 := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	stay, ok2 := evidence.ReachedAt(s.pass, p, add.Pos())
	if !ok1 || !ok2 || l.Entries <= 0 || l.Iterations < leastElements || stay < leastKept*l.Iterations*l.Entries {
		return nil
	}
	return &trimmed{list: loop.X, elements: l.Iterations, dropped: max(0, l.Iterations-stay/l.Entries), copies: l.Entries, tested: true}
}

// remembers reports whether a loop tests its elements by what it stored for the elements before, in
// a set or in the list that it adds to: it removes duplicates, and to look first whether there is
// one costs the same.
func remembers(p *gocode.Place, loop *ast.RangeStmt, add *ast.AssignStmt) bool {
	to := syntax.LocalVar(p, add.Lhs[0])
	found := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n == add {
				return false
			}
			for _, lhs := range n.Lhs {
				_, element := ast.Unparen(lhs).(*ast.IndexExpr)
				found = found || element
			}
		case *ast.IncDecStmt:
			_, element := ast.Unparen(n.X).(*ast.IndexExpr)
			found = found || element
		case *ast.Ident:
			found = found || p.Object(n) == to
		}
		return !found
	})
	return found
}

// replacedBy reports whether a statement after a loop sets the list of the loop to a variable.
func replacedBy(p *gocode.Place, loop *ast.RangeStmt, to *types.Var) bool {
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && a.Pos() > loop.End() && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			found = found || syntax.Same(p, a.Lhs[0], loop.X) && syntax.LocalVar(p, a.Rhs[0]) == to
		}
		return !found
	})
	return found
}

// describe fills in a match; it reports false if the copies are small or few.
func (t *trimmed) describe(m *finder.Case) bool {
	n, known := done(m.Pass, m.Site.Frame)
	copies := n * t.copies
	if !known || copies < leastCopies {
		return false
	}
	elements := t.elements
	if elements == 0 && t.elem != nil && !syntax.Generic(t.elem) {
		if bytes, _ := stacks.Sum(m.Allocs); bytes >= leastBytes {
			elements = float64(bytes) / copies / float64(max(1, syntax.Sizes().Sizeof(t.elem)))
		}
	}
	if elements < leastElements || t.dropped > (1-leastKept)*elements {
		return false
	}
	name := syntax.Text(t.list)
	few := "none"
	if t.dropped >= 0.005 {
		few = units.Number(t.dropped)
	}
	m.Cause = fmt.Sprintf("%s copies the list %s as a whole, %s elements on average, to drop %s of them: %s per %s.",
		syntax.FuncName(m.Place), name, units.Number(float64(int64(elements))), few, evidence.Times(t.copies), m.Pass.Manifest.Unit())
	m.Fix = fmt.Sprintf("Let %s grow to twice its limit before it is cut, so that many additions share a copy; or write into a ring: a slice of fixed length and the index of the next element.", name)
	if t.tested {
		m.Fix = fmt.Sprintf("Look first whether an element of %s is to be dropped, and do nothing if none is. "+
			"If the elements are in the order of what the test compares, as times are, cut the front: %[1]s = %[1]s[i:]. Else remove what is to be dropped where it is decided.", name)
	}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s copies per %s, %s elements each", units.Number(t.copies), m.Pass.Manifest.Unit(), units.Number(float64(int64(elements))))})
	return true
}
