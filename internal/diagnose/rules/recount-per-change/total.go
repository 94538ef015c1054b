package recountperchange

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// total is a loop that adds up or counts elements, and does nothing else.
type total struct {
	over       ast.Expr // what it ranges over; nil when that is not seen
	p          *gocode.Place
	of         *types.Var   // the collection
	fields     []*types.Var // of the elements, that it reads
	entries    float64      // how often the loop is reached, for each unit of work
	iterations float64      // each time
}

// totalAt returns the loop around the line of a frame, if it computes a total in many iterations.
func (s *search) totalAt(f *site.Frame) *total {
	pos := gocode.Pos{File: f.File, Line: f.Line}
	if t, ok := s.loops[pos]; ok {
		return t
	}
	var found *total
	if p := s.pass.Place(&site.Site{Frame: *f}); p != nil {
		if loop := loopAt(p); loop != nil {
			l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
			if t := totals(p, loop); ok && t != nil && l.Iterations >= least {
				t.p, t.entries, t.iterations = p, l.Entries, l.Iterations
				found = t
			}
		}
	}
	s.loops[pos] = found
	return found
}

// loopAt returns the loop whose head or body the line of a place is; nil for none.
func loopAt(p *gocode.Place) ast.Stmt {
	for _, n := range p.Nodes {
		if r, ok := n.(*ast.RangeStmt); ok && syntax.Line(p, r.Pos()) == p.Line {
			return r
		}
	}
	return p.Loop()
}

// totals returns what a loop computes, if that is a total; nil otherwise.
func totals(p *gocode.Place, loop ast.Stmt) *total {
	t := &adder{p: p, loop: loop, fine: true, total: &total{}}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		t.over = l.X
	case *ast.ForStmt:
		switch post := l.Post.(type) {
		case *ast.IncDecStmt:
			t.sums = append(t.sums, syntax.LocalVar(p, post.X))
		case *ast.AssignStmt:
			t.sums = append(t.sums, syntax.LocalVar(p, post.Lhs[0]))
		}
	default:
		return nil
	}
	ast.Inspect(loops.Body(loop), t.visit)
	if !t.fine || !t.adds || !t.ofOne() {
		return nil
	}
	return t.total
}

// adder examines the body of a loop.
type adder struct {
	*total
	p          *gocode.Place
	loop       ast.Stmt
	fine, adds bool
	uses       []*types.Var // of the function's variables
	sums       []*types.Var // that it assigns
	indexed    []*types.Var // of which it reads elements
}

// ofOne reports whether the total depends on nothing but the elements of one collection: not on an
// argument, and not on a second list.
func (t *adder) ofOne() bool {
	if v := syntax.Named(t.p, t.over); t.over != nil && v != nil {
		t.indexed = append(t.indexed, v)
	}
	slices.SortFunc(t.indexed, func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) })
	if len(slices.Compact(t.indexed)) != 1 {
		return false
	}
	t.of = t.indexed[0]
	for _, v := range t.uses {
		if !syntax.Inside(t.loop, v.Pos()) && !slices.Contains(t.sums, v) && v != t.indexed[0] && !receives(t.p, v) {
			return false
		}
	}
	return true
}

// receives reports whether a variable is the receiver: its fields are examined.
func receives(p *gocode.Place, v *types.Var) bool {
	if p.Decl == nil || p.Decl.Recv == nil {
		return false
	}
	return syntax.Inside(p.Decl.Recv, v.Pos())
}

func (t *adder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			t.assigns(e, n.Tok)
		}
	case *ast.IncDecStmt:
		t.assigns(n.X, n.Tok)
	case *ast.Ident:
		if v := syntax.LocalVar(t.p, n); v != nil {
			t.uses = append(t.uses, v)
		}
	case *ast.IndexExpr:
		if v := syntax.Named(t.p, n.X); v != nil {
			t.indexed = append(t.indexed, v)
		} else {
			t.fine = false
		}
	case *ast.SelectorExpr:
		if v, ok := t.p.Object(n.Sel).(*types.Var); ok && v.IsField() {
			t.fields = append(t.fields, v)
		}
	case *ast.CallExpr:
		t.fine = t.fine && t.computes(n)
	case *ast.ReturnStmt, *ast.BranchStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit, *ast.SelectStmt, *ast.RangeStmt, *ast.ForStmt:
		b, ok := n.(*ast.BranchStmt)
		t.fine = t.fine && ok && b.Tok == token.CONTINUE
	case *ast.UnaryExpr:
		t.fine = t.fine && n.Op != token.ARROW
	}
	return t.fine
}

// assigns notes an assignment: to numbers of the function only.
func (t *adder) assigns(e ast.Expr, tok token.Token) {
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return
	}
	v := syntax.LocalVar(t.p, e)
	if v == nil {
		t.fine = false
		return
	}
	t.sums = append(t.sums, v)
	b, ok := v.Type().Underlying().(*types.Basic)
	t.fine = t.fine && (tok == token.DEFINE || ok && b.Info()&types.IsNumeric != 0)
	t.adds = t.adds || tok != token.DEFINE && !syntax.Inside(t.loop, v.Pos())
}

// computes reports whether a call, like those of package math, costs next to nothing and has no
// effect.
func (t *adder) computes(call *ast.CallExpr) bool {
	if _, ok := t.p.Conversion(call); ok {
		return true
	}
	switch name := t.p.CalleeName(call); name {
	case "len", "cap", "min", "max":
		return true
	default:
		return strings.HasPrefix(name, "math.") || strings.HasPrefix(name, "math/bits.")
	}
}
