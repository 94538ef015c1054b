package recountperchange

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// rarely is how often, per computation of the total, the code may change the collection in a way
// that is not understood.
const rarely = 0.01

// lasting returns the field or package variable that a collection is; nil for others, which a
// caller passes on.
func lasting(p *gocode.Place, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	v := syntax.Named(p, e)
	if v == nil || !v.IsField() && v.Parent() != p.Pkg.Scope() || v.Exported() && v.IsField() && v.Pkg() != p.Pkg {
		return nil
	}
	return v
}

// changes counts the elements of a collection that the package can have changed.
type changes struct {
	pass     *rule.Pass
	p        *gocode.Place
	of       *types.Var
	elements []*types.Var // fields of elements that count as well
	times    float64      // that the total is computed, for each unit of work
	reads    *types.Func  // that computes it from its argument; nil for none

	n, most float64
	line    int
	unclear float64 // changes that may be of any number of elements

	statement *ast.CallExpr // the last call that is a statement: its result is not used
}

// count returns how many elements changed for each unit of work, at most, and the line with most of
// it. It reports false where that is not known.
func (c *changes) count() (n float64, line int, ok bool) {
	for _, f := range c.p.Files() {
		ast.Inspect(f, c.visit)
	}
	return c.n, c.line, c.unclear <= rarely*c.times
}

// runs returns how often code runs for each unit of work, without the start of the program, which
// fills collections.
func (c *changes) runs(n ast.Node) float64 {
	times, ok := evidence.ReachedAt(c.pass, c.p, n.Pos())
	if !ok {
		return 0
	}
	e, ok := evidence.ExecutionsAt(c.pass, c.p, n.Pos())
	if !ok || len(e.Windows) < 3 || e.PerUnit <= 0 {
		return times
	}
	later := 0.0
	for _, w := range e.Windows[1:] {
		later += w
	}
	return min(times, times*later/float64(len(e.Windows)-1)/e.PerUnit)
}

// one notes a statement that changes some elements, or a call that may do so and returns something.
func (c *changes) one(n ast.Node, elements int) {
	runs := c.runs(n) * float64(elements)
	c.n += runs
	if call, ok := n.(*ast.CallExpr); runs > c.most && (!ok || call == c.statement) {
		c.most, c.line = runs, syntax.Line(c.p, n.Pos())
	}
}

func (c *changes) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, e := range n.Lhs {
			c.assigned(n, i, e)
		}
	case *ast.IncDecStmt:
		c.changed(n, n.X)
	case *ast.ExprStmt:
		c.statement, _ = n.X.(*ast.CallExpr)
	case *ast.CallExpr:
		c.called(n)
	case *ast.UnaryExpr:
		if n.Op.String() == "&" && c.is(n.X) {
			c.unclear += c.runs(n)
		}
	}
	return true
}

func (c *changes) is(e ast.Expr) bool { return syntax.Named(c.p, e) == c.of }

// assigned notes an assignment to an element, a field of an element, or the collection itself.
func (c *changes) assigned(a *ast.AssignStmt, i int, e ast.Expr) {
	if !c.is(e) {
		c.changed(a, e)
		return
	}
	if len(a.Rhs) != len(a.Lhs) {
		c.unclear += c.runs(a)
		return
	}
	call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
	if ok && c.p.CalleeName(call) == "append" && c.is(call.Args[0]) && !call.Ellipsis.IsValid() {
		c.one(a, len(call.Args)-1)
		return
	}
	c.unclear += c.runs(a)
}

// changed notes an assignment to an element or to a field of one.
func (c *changes) changed(n ast.Node, e ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if c.is(x.X) {
			c.one(n, 1)
		}
	case *ast.SelectorExpr:
		if v := syntax.Named(c.p, x); v != nil && slices.Contains(c.elements, v) {
			c.one(n, 1)
		} else {
			c.changed(n, x.X)
		}
	}
}

// called records a call that may change the collection: a method of it changes one element if all
// its arguments are plain.
func (c *changes) called(call *ast.CallExpr) {
	switch c.p.CalleeName(call) {
	case "len", "cap", "append":
		return // the assignment of what append returns is noted
	case "delete":
		if c.is(call.Args[0]) {
			c.one(call, 1)
		}
		return
	}
	if recv := syntax.Receiver(call); recv != nil && c.is(recv) {
		if len(call.Args) == 0 && call != c.statement {
			return // a question
		}
		if len(call.Args) == 0 || slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !plain(c.p.TypeOf(e)) }) {
			c.unclear += c.runs(call)
			return
		}
		c.one(call, 1)
		return
	}
	if slices.ContainsFunc(call.Args, c.is) && (c.reads == nil || c.p.Callee(call) != c.reads) {
		c.unclear += c.runs(call)
	}
}

func plain(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}
