package effects

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Marks are the maps and lists, in parameters and fields, in which a recursion marks what is on the
// way to the current node: it sets an element, and deletes it or sets it back before it returns.
type Marks struct {
	place *gocode.Place
	vars  map[types.Object]bool
	uses  map[*ast.Ident]bool // that set an element, or set it back
}

// MarksOf returns the marks of the function at a place; nil if it has none, and for a function that
// visibly changes anything else.
func MarksOf(p *gocode.Place) *Marks {
	body := syntax.Body(p)
	if body == nil {
		return nil
	}
	m := &Marks{place: p, vars: map[types.Object]bool{}, uses: map[*ast.Ident]bool{}}
	set, back := map[types.Object][]ast.Expr{}, map[types.Object][]ast.Expr{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if id, key, value := elementSet(p, n); id != nil {
				to := set
				if off(p, value) {
					to = back
				}
				to[p.Object(id)], m.uses[id] = append(to[p.Object(id)], key), true
			}
		case *ast.CallExpr:
			if id := named(first(n.Args)); id != nil && p.CalleeName(n) == "delete" {
				back[p.Object(id)], m.uses[id] = append(back[p.Object(id)], n.Args[1]), true
			}
		}
		return true
	})
	for v, keys := range set {
		if v != nil && len(keys) == 1 && len(back[v]) > 0 && allSame(p, keys[0], back[v]) {
			m.vars[v] = true
		}
	}
	if len(m.vars) == 0 || !seen(p, iteration{computes: true, visible: true, marks: m.vars}) {
		return nil
	}
	return m
}

// Var returns one of the variables or fields with the marks.
func (m *Marks) Var() types.Object {
	for v := range m.vars {
		return v
	}
	return nil
}

// Has reports whether an object is one of the variables or fields with the marks.
func (m *Marks) Has(v types.Object) bool { return m.vars[v] }

// Tests returns the if statements that test a mark, each with whether its body runs for what is
// marked; false if a mark is used for something else. A function may pass its marks to itself.
func (m *Marks) Tests() (tests map[*ast.IfStmt]bool, ok bool) {
	tests, ok = map[*ast.IfStmt]bool{}, true
	p := m.place
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		id, is := n.(*ast.Ident)
		if !is || !m.vars[p.Object(id)] || m.uses[id] || p.Info.Defs[id] != nil {
			return ok
		}
		if call, is := syntax.Parent(p, id).(*ast.CallExpr); is && p.CalleeName(call) != "len" {
			return ok
		}
		var top ast.Node = id
		for {
			up := syntax.Parent(p, top)
			if _, is := up.(ast.Expr); !is {
				break
			}
			top = up
		}
		test, is := testOf(p, top)
		if !is {
			ok = false
			return false
		}
		not, is := ast.Unparen(test.Cond).(*ast.UnaryExpr)
		tests[test] = !is || not.Op != token.NOT
		if _, both := ast.Unparen(test.Cond).(*ast.BinaryExpr); both {
			ok = false
		}
		return ok
	})
	return tests, ok
}

// testOf returns the if statement whose condition, or whose short statement, has an expression.
func testOf(p *gocode.Place, top ast.Node) (*ast.IfStmt, bool) {
	up := syntax.Parent(p, top)
	if test, ok := up.(*ast.IfStmt); ok {
		return test, test.Cond == top
	}
	if init, ok := up.(*ast.AssignStmt); ok {
		test, ok := syntax.Parent(p, init).(*ast.IfStmt)
		return test, ok && test.Init == ast.Stmt(init)
	}
	return nil, false
}

// elementSet returns the name, the key and the value of an assignment v[key] = value.
func elementSet(p *gocode.Place, n *ast.AssignStmt) (id *ast.Ident, key, value ast.Expr) {
	if len(n.Lhs) != 1 || n.Tok != token.ASSIGN {
		return nil, nil, nil
	}
	index, ok := ast.Unparen(n.Lhs[0]).(*ast.IndexExpr)
	if !ok || !onlyFlags(p.TypeOf(index)) {
		return nil, nil, nil
	}
	return named(index.X), index.Index, n.Rhs[0]
}

// onlyFlags reports whether values of a type say only yes or no, or which of a few states.
func onlyFlags(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		return t.NumFields() == 0
	case *types.Basic:
		return t.Info()&(types.IsBoolean|types.IsInteger) != 0
	}
	return false
}

// off reports whether a value is the one of an element that is not set.
func off(p *gocode.Place, e ast.Expr) bool {
	v, ok := p.Const(e)
	return ok && (v.String() == "false" || v.String() == "0")
}

func first(args []ast.Expr) ast.Expr {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

func allSame(p *gocode.Place, key ast.Expr, all []ast.Expr) bool {
	for _, other := range all {
		if !syntax.Same(p, key, other) {
			return false
		}
	}
	return true
}
