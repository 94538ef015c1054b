package kept

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Elements counts the elements of a kept list or map that its package can have changed.
type Elements struct {
	Pass   *rule.Pass
	Place  *gocode.Place
	Var    *types.Var
	Fields []*types.Var  // of elements, which count as well
	Reads  *types.Func   // a function that only reads the collection which it gets; nil for none
	Skip   *ast.CallExpr // a call that does not count; nil for none

	// Changed is how many elements changed for each unit of work, at most.
	Changed float64
	// Unclear is how often, for each unit of work, any number of elements may have changed.
	Unclear float64
	// Line is where most elements change; 0 for none.
	Line int
	// DeletedAt is the line that deletes most elements of a map; 0 for none.
	DeletedAt int

	most      float64
	deleted   float64
	statement *ast.CallExpr // the last call that is a statement: its result is not used
	reading   reading       // of the function that is visited
}

// Count fills in what changed.
func (c *Elements) Count() {
	for _, f := range c.Place.Files() {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil { // initialisers run once
				c.reading = reading{Place: c.Place.Entry(fn), skip: c.Skip}
				ast.Inspect(fn.Body, c.visit)
			}
		}
	}
}

// runs returns how often code runs for each unit of work, without the start of the program, which
// fills collections.
func (c *Elements) runs(n ast.Node) float64 {
	times, ok := evidence.ReachedAt(c.Pass, c.Place, n.Pos())
	if !ok {
		return 0
	}
	e, ok := evidence.ExecutionsAt(c.Pass, c.Place, n.Pos())
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
func (c *Elements) one(n ast.Node, elements int) {
	runs := c.runs(n) * float64(elements)
	c.Changed += runs
	if call, ok := n.(*ast.CallExpr); runs > c.most && (!ok || call == c.statement) {
		c.most, c.Line = runs, syntax.Line(c.Place, n.Pos())
	}
}

func (c *Elements) visit(n ast.Node) bool {
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
	case *ast.CompositeLit:
		if c.given(n) {
			c.Unclear += c.runs(n)
		}
	case *ast.UnaryExpr:
		if n.Op.String() == "&" && c.is(n.X) {
			c.Unclear += c.runs(n)
		}
	}
	return true
}

func (c *Elements) is(e ast.Expr) bool { return syntax.Named(c.Place, e) == c.Var }

// assigned notes an assignment to an element, a field of an element, or the collection itself.
func (c *Elements) assigned(a *ast.AssignStmt, i int, e ast.Expr) {
	if !c.is(e) {
		c.changed(a, e)
		return
	}
	if len(a.Rhs) != len(a.Lhs) {
		c.Unclear += c.runs(a)
		return
	}
	if elements := c.replaced(a.Rhs[i]); elements > 0 {
		c.one(a, elements)
		return
	}
	c.Unclear += c.runs(a)
}

// replaced returns how many elements a list that is assigned to the collection has more or less;
// 0 when it may be any list.
func (c *Elements) replaced(e ast.Expr) int {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		if c.is(e.X) && c.shortened(e) {
			return 1
		}
	case *ast.CallExpr:
		switch name := c.Place.CalleeName(e); {
		case name == "append" && e.Ellipsis.IsValid():
			if c.part(e.Args[0]) && c.part(e.Args[1]) {
				return 1 // append(list[:i], list[i+1:]...)
			}
		case name == "append" && c.is(e.Args[0]):
			return len(e.Args) - 1
		case name == "append" && c.part(e.Args[0]) && c.replaced(e.Args[0]) > 0: // append(list[1:], x)
			return len(e.Args)
		case (name == "slices.Insert" || name == "slices.Delete") && c.is(e.Args[0]):
			return 1
		}
	}
	return 0
}

// part reports whether an expression is a part of the list.
func (c *Elements) part(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SliceExpr)
	return ok && c.is(s.X)
}

// given reports whether a new struct gets a list that may have elements for the field.
func (c *Elements) given(lit *ast.CompositeLit) bool {
	t := c.Place.TypeOf(lit)
	if t == nil || !c.Var.IsField() {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i, e := range lit.Elts {
		value, field := e, (*types.Var)(nil)
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			value, field = kv.Value, syntax.Named(c.Place, kv.Key)
		} else if i < s.NumFields() {
			field = s.Field(i)
		}
		if field == c.Var && !c.none(value) {
			return true
		}
	}
	return false
}

// none reports whether an expression is a collection without elements.
func (c *Elements) none(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return c.Place.CalleeName(e) == "make"
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	}
	return c.Place.Info.Types[e].IsNil()
}

// shortened reports whether a part of the list lacks its first element or its last ones by a bound
// such as len(list)-1.
func (c *Elements) shortened(part *ast.SliceExpr) bool {
	if part.High == nil {
		low, ok := syntax.ConstInt(c.Place, part.Low)
		return ok && low == 1
	}
	less, ok := ast.Unparen(part.High).(*ast.BinaryExpr)
	if !ok || part.Low != nil || less.Op != token.SUB {
		return false
	}
	by, ok := syntax.ConstInt(c.Place, less.Y)
	return ok && by == 1
}

// changed notes an assignment to an element or to a field of one.
func (c *Elements) changed(n ast.Node, e ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if c.is(x.X) {
			c.one(n, 1)
		}
	case *ast.SelectorExpr:
		if v := syntax.Named(c.Place, x); v != nil && slices.Contains(c.Fields, v) {
			c.one(n, 1)
		} else {
			c.changed(n, x.X)
		}
	}
}

// called records a call that may change the collection: a method of it changes one element if all
// its arguments are plain.
func (c *Elements) called(call *ast.CallExpr) {
	if call == c.Skip || c.Skip != nil && syntax.Within(c.Skip, call) {
		return
	}
	if _, ok := c.Place.Conversion(call); ok {
		if len(call.Args) == 1 && c.is(call.Args[0]) && !c.reading.value(call) {
			c.Unclear += c.runs(call)
		}
		return
	}
	switch c.Place.CalleeName(call) {
	case "len", "cap", "append", "slices.Insert", "slices.Delete":
		return // the assignment of the result is noted
	case "copy": // copy(list, list[1:]): the others are the same
		if c.is(call.Args[0]) && c.part(call.Args[1]) && c.replaced(call.Args[1]) > 0 {
			c.one(call, 1)
			return
		}
	case "delete":
		if c.is(call.Args[0]) {
			c.one(call, 1)
			if runs := c.runs(call); runs > c.deleted {
				c.deleted, c.DeletedAt = runs, syntax.Line(c.Place, call.Pos())
			}
		}
		return
	}
	if recv := syntax.Receiver(call); recv != nil && c.is(recv) {
		if len(call.Args) == 0 && call != c.statement || c.reading.method(call) {
			return // a question
		}
		if len(call.Args) == 0 || slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !plain(c.Place.TypeOf(e)) }) {
			c.Unclear += c.runs(call)
			return
		}
		c.one(call, 1)
		return
	}
	if c.Reads != nil && c.Place.Callee(call) == c.Reads {
		return
	}
	for i, arg := range call.Args {
		if c.is(arg) && !c.reading.argument(call, i) {
			c.Unclear += c.runs(call)
			return
		}
	}
}

func plain(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}
