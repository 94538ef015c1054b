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

// total is a loop that adds up or counts elements, and does nothing else: of all of them, or of
// those that a comparison with an argument selects.
type total struct {
	over       ast.Expr // what it ranges over; nil when that is not seen
	p          *gocode.Place
	of         *types.Var     // the collection
	fields     []*types.Var   // of the elements, that it reads
	kinds      []*types.Named // interfaces of elements that it asks for their size
	entries    float64        // how often the loop is reached, for each unit of work
	iterations float64        // each time
	limits     []limit        // comparisons with what the function was asked for
	by         *types.Var     // the parameter whose function computes what is added; nil for none
}

// limit is a comparison of an element with a value from outside of the loop.
type limit struct {
	cond  *ast.BinaryExpr
	value ast.Expr // the side from outside
	of    *types.Var
}

// equal reports whether the limit is a key that elements must have.
func (l limit) equal() bool { return l.cond.Op == token.EQL || l.cond.Op == token.NEQ }

// totalAt returns the loop around the line of a frame, if it computes a total in many iterations.
func (s *search) totalAt(f *site.Frame) *total {
	pos := gocode.Pos{File: f.File, Line: f.Line}
	if t, ok := s.loops[pos]; ok {
		return t
	}
	var found *total
	if p := s.pass.Place(&site.Site{Frame: *f}); p != nil {
		for loop := loops.At(p); loop != nil && found == nil; loop = around(p, loop) {
			l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
			if !ok || l.Iterations < least {
				continue // of the parts of one element
			}
			if t := totals(p, loop); t != nil {
				t.p, t.entries, t.iterations = p, l.Entries, l.Iterations
				found = t
			}
			break
		}
	}
	s.loops[pos] = found
	return found
}

// around returns the loop around another one in the same function; nil for none.
func around(p *gocode.Place, inner ast.Stmt) ast.Stmt {
	for _, n := range loops.Around(p, inner) {
		if loop, ok := n.(ast.Stmt); ok && n != ast.Node(inner) {
			return loop
		}
	}
	return nil
}

// totals returns what a loop computes, if that is a total; nil otherwise.
func totals(p *gocode.Place, loop ast.Stmt) *total {
	t := &adder{p: p, loop: loop, fine: true, total: &total{}}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if t.over = loops.Yielded(p, l.X); t.over == nil {
			t.over = l.X
		}
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
	uses := map[*types.Var]int{}
	for _, v := range t.uses {
		if !syntax.Inside(t.loop, v.Pos()) && !slices.Contains(t.sums, v) && v != t.indexed[0] && v != t.by && !receives(t.p, v) {
			uses[v]++
		}
	}
	for _, l := range t.limits {
		uses[l.of]--
	}
	for _, n := range uses {
		if n > 0 {
			return false
		}
	}
	t.limits = slices.DeleteFunc(t.limits, func(l limit) bool { return slices.Contains(t.sums, l.of) || l.of == t.of || receives(t.p, l.of) })
	return len(t.limits) <= 1
}

// compares notes a comparison of an element with a value that is the same for all elements.
func (t *adder) compares(b *ast.BinaryExpr) {
	switch b.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return
	}
	for _, sides := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		v, _ := syntax.Var(t.p, sides[1])
		if v != nil && !v.IsField() && syntax.Local(t.p, v) && !syntax.Inside(t.loop, v.Pos()) && t.ofElement(sides[0]) {
			t.limits = append(t.limits, limit{b, sides[1], v})
		}
	}
}

// ofElement reports whether an expression is an element or a part of it.
func (t *adder) ofElement(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = true
		case *ast.Ident:
			v := syntax.LocalVar(t.p, n)
			found = found || v != nil && syntax.Inside(t.loop, v.Pos())
		}
		return !found
	})
	return found
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
		if v, ok := t.p.Object(n.Sel).(*types.Var); ok && v.IsField() && ownField(t.p, n) == nil {
			t.fields = append(t.fields, v)
		}
	case *ast.BinaryExpr:
		t.compares(n)
	case *ast.CallExpr:
		t.fine = t.fine && t.computes(n)
	case *ast.ReturnStmt, *ast.BranchStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit, *ast.SelectStmt, *ast.ForStmt:
		b, ok := n.(*ast.BranchStmt)
		t.fine = t.fine && ok && b.Tok == token.CONTINUE
	case *ast.RangeStmt: // the parts of an element
		t.fine = t.fine && n.Tok == token.DEFINE && syntax.Elem(t.p.TypeOf(n.X)) != nil && t.ofElement(n.X)
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
		v = ownField(t.p, e)
	}
	if v == nil || t.p.TypeOf(e) == nil && tok != token.DEFINE {
		t.fine = false
		return
	}
	t.sums = append(t.sums, v)
	typed := v.Type()
	if tok != token.DEFINE {
		typed = t.p.TypeOf(e)
	}
	b, ok := typed.Underlying().(*types.Basic)
	_, generic := typed.(*types.TypeParam) // a number, if the program adds to it
	t.fine = t.fine && (tok == token.DEFINE || generic || ok && b.Info()&types.IsNumeric != 0)
	t.adds = t.adds || tok != token.DEFINE && !syntax.Inside(t.loop, v.Pos())
}

// ownField returns the variable of the function, a struct, of which an expression is a field; nil
// for others, also for what a parameter points to.
func ownField(p *gocode.Place, e ast.Expr) *types.Var {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v := syntax.LocalVar(p, sel.X)
	if v == nil || syntax.Param(p, v) {
		return nil
	}
	if _, value := v.Type().Underlying().(*types.Struct); !value {
		return nil
	}
	return v
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
	case "":
		return t.asks(call)
	default:
		return strings.HasPrefix(name, "math.") || strings.HasPrefix(name, "math/bits.") || t.asksSize(call)
	}
}
