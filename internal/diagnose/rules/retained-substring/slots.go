package retainedsubstring

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// slot is where a queue returns an element, moves its index on, and leaves the element in its
// array.
type slot struct {
	at    *gocode.Place // the function
	elem  *ast.IndexExpr
	list  *types.Var // the field with the array
	index *types.Var // the field with the index
}

// slots returns the places in a package where elements are handed out that way.
func slots(in *gocode.Place) (found []*slot) {
	for _, file := range in.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			p := in.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				var value ast.Expr
				switch n := n.(type) {
				case *ast.AssignStmt:
					if len(n.Lhs) == 1 && len(n.Rhs) == 1 {
						value = n.Rhs[0]
					}
				case *ast.ReturnStmt:
					if len(n.Results) > 0 {
						value = n.Results[0]
					}
				}
				if s := slotOf(p, value); s != nil {
					found = append(found, s)
				}
				return true
			})
		}
	}
	return found
}

// slotOf returns the slot that an expression reads; nil for others, for elements without pointers,
// and where the function writes to the array or does not move the index.
func slotOf(p *gocode.Place, value ast.Expr) *slot {
	x, ok := value.(*ast.IndexExpr)
	if !ok {
		return nil
	}
	list := field(p, x.X)
	if list == nil {
		return nil
	}
	elem := syntax.Elem(list.Type())
	if elem == nil {
		return nil
	}
	if _, param := types.Unalias(elem).(*types.TypeParam); !param && !syntax.HoldsPointers(elem) {
		return nil
	}
	s := &slot{at: p, elem: x, list: list}
	ast.Inspect(source(p, x.Index), func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && s.index == nil {
			if v := field(p, e); v != nil && v != list {
				s.index = v
			}
		}
		return true
	})
	if s.index == nil || !s.moves() || s.written() {
		return nil
	}
	return s
}

// source returns what a local variable was declared with; others as they are.
func source(p *gocode.Place, e ast.Expr) ast.Expr {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return e
	}
	from := e
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && a.Tok == token.DEFINE && len(a.Lhs) == len(a.Rhs) {
			for i, lhs := range a.Lhs {
				if syntax.LocalVar(p, lhs) == v {
					from = a.Rhs[i]
				}
			}
		}
		return true
	})
	return from
}

// field returns the field that an expression names; nil for others.
func field(p *gocode.Place, e ast.Expr) *types.Var {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, _ := p.Object(sel.Sel).(*types.Var)
	if v == nil || !v.IsField() {
		return nil
	}
	return v
}

// moves reports whether the function changes the index.
func (s *slot) moves() (found bool) {
	ast.Inspect(s.at.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = found || n.Tok == token.INC && field(s.at, n.X) == s.index
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || field(s.at, lhs) == s.index
			}
		}
		return !found
	})
	return found
}

// written reports whether the function writes to the array, replaces it, or passes it on.
func (s *slot) written() (found bool) {
	ast.Inspect(s.at.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
					lhs = x.X
				}
				found = found || field(s.at, lhs) == s.list
			}
		case *ast.UnaryExpr:
			x, ok := ast.Unparen(n.X).(*ast.IndexExpr)
			found = found || n.Op == token.AND && ok && field(s.at, x.X) == s.list
		case *ast.CallExpr:
			name := s.at.CalleeName(n)
			for _, arg := range n.Args {
				found = found || name != "len" && name != "cap" && field(s.at, arg) == s.list
			}
		}
		return !found
	})
	return found
}

// emptied returns how often some packages found the queue empty for each unit of work, as counted:
// the function of the slot returned before it read the slot, or one that calls it did something
// else because a length was 0.
func (s *slot) emptied(pass *rule.Pass, packages []*gocode.Place) (times float64) {
	for _, stmt := range s.at.Decl.Body.List {
		test, ok := stmt.(*ast.IfStmt)
		if ok && test.End() <= s.elem.Pos() && leavesFunction(test.Body) && reads(test.Cond) {
			times += entered(pass, s.at, test)
		}
	}
	for _, in := range packages {
		for _, file := range in.Files() {
			for _, d := range file.Decls {
				if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
					times += s.foundEmpty(pass, in.Entry(decl))
				}
			}
		}
	}
	return times
}

// foundEmpty returns how often a function that takes from the queue left before, because a length
// was 0.
func (s *slot) foundEmpty(pass *rule.Pass, p *gocode.Place) (times float64) {
	var tests []*ast.IfStmt
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if leavesFunction(n.Body) && nothing(p, n.Cond) {
				tests = append(tests, n)
			}
		case *ast.CallExpr:
			if fn := p.Callee(n); fn != nil && fn.Name() == s.at.Decl.Name.Name && fn.Signature().Recv() != nil {
				for _, t := range tests {
					times += entered(pass, p, t)
				}
				tests = nil
			}
		}
		return true
	})
	return times
}

// nothing reports whether a condition compares what a call returns with 0, such as a length.
func nothing(p *gocode.Place, cond ast.Expr) bool {
	cmp, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.LEQ {
		return false
	}
	n, ok := syntax.ConstInt(p, cmp.Y)
	_, call := ast.Unparen(cmp.X).(*ast.CallExpr)
	return ok && n == 0 && call
}

// entered returns how often the body of an if statement ran for each unit of work.
func entered(pass *rule.Pass, p *gocode.Place, test *ast.IfStmt) float64 {
	e, _ := evidence.ExecutionsAt(pass, p, test.Body.List[0].Pos())
	return e.PerUnit
}

// leavesFunction reports whether a block ends with a return.
func leavesFunction(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	_, returns := body.List[len(body.List)-1].(*ast.ReturnStmt)
	return returns
}

// reads reports whether a condition reads a field.
func reads(cond ast.Expr) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		_, field := n.(*ast.SelectorExpr)
		found = found || field
		return !found
	})
	return found
}
