package windowperstep

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// gives reports whether a statement gives an element to an object that sums up what it gets:
// agg.Add(xs[j]). Whether its method does only that, [onlySums] finds out from the rows.
func (b *body) gives(s *ast.ExprStmt) bool {
	call, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || b.p.Callee(call) == nil {
		return false
	}
	if !b.into(syntax.OrBad(syntax.Receiver(call))) {
		return false
	}
	for _, arg := range call.Args {
		if !b.ofElement(arg) {
			return false
		}
	}
	b.object = true
	return true
}

// emptied reports whether an object starts again with each window: it is made there, or a method
// such as Reset is called before the loop.
func (b *body) emptied() bool {
	within := ast.Node(b.p.Decl.Body)
	if b.mover.steps != nil {
		within = b.mover.steps
	}
	if _, value := syntax.Declared(b.p, b.result); value != nil && syntax.Inside(within, b.result.Pos()) {
		return true
	}
	found := false
	ast.Inspect(within, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if n == b.mover.loop || found {
			return false
		}
		if !ok || call.Pos() > b.mover.loop.Pos() || len(call.Args) > 0 || !b.isResult(syntax.OrBad(syntax.Receiver(call))) {
			return true
		}
		fn := b.p.Callee(call)
		found = fn != nil && (strings.HasPrefix(fn.Name(), "Reset") || strings.HasPrefix(fn.Name(), "reset") || strings.HasPrefix(fn.Name(), "Clear"))
		return !found
	})
	return found
}

// window returns the frame of a row at a loop through a window; -1 for none, and where the loop
// gives its elements to an object that does more than to sum them up.
func (s *search) window(r *site.Row) int {
	at := s.lines.Nearest(r)
	if at < 0 || !s.lines.At(r.Stack[at]).object {
		return at
	}
	switch s.given(r, at) {
	case sumsUp:
		return at
	case unknown:
		if s.only(r.Stack[at]) {
			return at
		}
	}
	return -1
}

// given says what happens to the element in a row of a loop that gives each to an object.
type given int

const (
	unknown given = iota // the row is of the loop itself, or reads the element
	sumsUp
	other
)

func (s *search) given(r *site.Row, at int) given {
	if at == 0 {
		return unknown
	}
	below := r.Stack[at-1]
	p, ok := s.pass.Syntax.At(below.File, below.Line)
	if k := below.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !ok || p.Decl == nil || p.Decl.Body == nil {
		return unknown
	}
	if results := p.Decl.Type.Results; results != nil && results.NumFields() > 0 {
		return unknown
	}
	if onlySums(p.Outer()) {
		return sumsUp
	}
	return other
}

// only reports whether all objects that get the elements on a line only sum them up.
func (s *search) only(f *site.Frame) bool {
	sums, others := false, false
	s.pass.EachRow(func(r *site.Row) {
		for i, x := range r.Stack {
			if x.Line != f.Line || x.File != f.File {
				continue
			}
			g := s.given(r, i)
			sums, others = sums || g == sumsUp, others || g == other
			return
		}
	})
	return sums && !others
}

// onlySums reports whether a method only adds its parameters to numbers in its receiver.
func onlySums(p *gocode.Place) bool {
	adds := false
	var fine func(ast.Stmt) bool
	all := func(list []ast.Stmt) bool {
		for _, s := range list {
			if !fine(s) {
				return false
			}
		}
		return true
	}
	fine = func(stmt ast.Stmt) bool {
		switch s := stmt.(type) {
		case *ast.IncDecStmt:
			return number(p, s.X)
		case *ast.AssignStmt:
			if slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool { return ofReceiver(p, e) }) {
				return false // as an average in which older elements count less
			}
			adds = adds || s.Tok == token.ADD_ASSIGN
			return s.Tok == token.DEFINE || s.Tok == token.ADD_ASSIGN && number(p, s.Lhs[0])
		case *ast.IfStmt:
			return s.Init == nil && s.Else == nil && all(s.Body.List)
		case *ast.ReturnStmt:
			return len(s.Results) == 0
		}
		return false
	}
	return all(p.Decl.Body.List) && adds && p.Decl.Recv != nil
}

// ofReceiver reports whether an expression reads the receiver of a method.
func ofReceiver(p *gocode.Place, e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && p.Decl.Recv != nil {
			v, _ := p.Object(id).(*types.Var)
			found = found || v != nil && syntax.Inside(p.Decl.Recv, v.Pos())
		}
		return !found
	})
	return found
}

// number reports whether an expression is a number in the receiver of a method.
func number(p *gocode.Place, e ast.Expr) bool {
	root, part := syntax.Var(p, e)
	t := p.TypeOf(e)
	if root == nil || !part || t == nil || p.Decl.Recv == nil || !syntax.Inside(p.Decl.Recv, root.Pos()) {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}
