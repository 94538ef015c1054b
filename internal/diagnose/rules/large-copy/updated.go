package largecopy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// update copies an element out of a list or a map, changes fields of the copy, and puts it back: v
// := m[k]; v.n++; m[k] = v.
type update struct {
	v, of       string
	read, write int // their lines
	kept        bool
	guarded     bool
}

// updateAt returns the update that a line copies for, at either end; nil for none.
func updateAt(p *gocode.Place) (found *update) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found != nil || len(a.Rhs) != 1 {
			return found == nil
		}
		read, from := a, elementOf(p, a.Rhs[0])
		if from == nil {
			return true
		}
		v := syntax.LocalVar(p, a.Lhs[0])
		if v == nil {
			return true
		}
		back := putBack(p, read, from, v)
		if back == nil || syntax.Line(p, read.Pos()) != p.Line && syntax.Line(p, back.Pos()) != p.Line {
			return true
		}
		found = &update{v: v.Name(), of: syntax.Text(from), read: syntax.Line(p, read.Pos()), write: syntax.Line(p, back.Pos()),
			kept: syntax.IsMap(p.TypeOf(from.X)), guarded: guarded(p)}
		return false
	})
	return found
}

// elementOf returns an expression that is an element of a list or a map; nil for others.
func elementOf(p *gocode.Place, e ast.Expr) *ast.IndexExpr {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	t := p.TypeOf(x.X)
	if t == nil {
		return nil
	}
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Array, *types.Pointer:
		return x
	}
	return nil
}

// putBack returns the statement that puts a copy of an element back where it was read, if all other
// uses of the copy are of its fields; nil for none.
func putBack(p *gocode.Place, read *ast.AssignStmt, from *ast.IndexExpr, v *types.Var) (back *ast.AssignStmt) {
	changes := false
	for _, use := range syntax.Uses(p, v) {
		path := p.Enclosing(use)
		if len(path) == 0 {
			return nil
		}
		if a, ok := path[0].(*ast.AssignStmt); ok {
			switch {
			case a == read:
			case len(a.Lhs) == 1 && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == use && sameElement(p, a.Lhs[0], from, read, a):
				back = a
			case len(a.Lhs) == 1 && len(a.Rhs) == 1 && a.Lhs[0] == use && a.Tok == token.ASSIGN && isLiteral(a.Rhs[0]): // the first of a key
			default:
				return nil
			}
			continue
		}
		sel, ok := path[0].(*ast.SelectorExpr)
		if !ok || sel.X != use {
			return nil
		}
		s := p.Info.Selections[sel]
		if s == nil || s.Kind() != types.FieldVal {
			return nil
		}
		changes = changes || changed(path, sel)
	}
	if !changes {
		return nil
	}
	return back
}

func isLiteral(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok
}

// changed reports whether a field of the copy, or a part of it, is set. A slice of it, or its
// address, may change it in ways that are not seen here.
func changed(path []ast.Node, sel *ast.SelectorExpr) bool {
	part := ast.Expr(sel)
	for _, n := range path[1:] {
		switch n := n.(type) {
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.ParenExpr:
			part, _ = n.(ast.Expr)
			continue
		case *ast.IncDecStmt:
			return n.X == part
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if lhs == part {
					return true
				}
			}
		}
		return false
	}
	return false
}

// sameElement reports whether an expression denotes the element that was read: the same list or map
// at the same index, of which nothing between the two statements changes a variable.
func sameElement(p *gocode.Place, e ast.Expr, from *ast.IndexExpr, read, back *ast.AssignStmt) bool {
	to := elementOf(p, e)
	if to == nil || back.Pos() < read.End() || types.ExprString(to) != types.ExprString(from) || syntax.Parent(p, read) == nil {
		return false
	}
	same := true
	ast.Inspect(to, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			same = false
		case *ast.Ident:
			v, ok := p.Object(n).(*types.Var)
			if !ok || v.IsField() {
				return true
			}
			ast.Inspect(syntax.Body(p), func(m ast.Node) bool {
				stmt, ok := m.(ast.Stmt)
				if ok && stmt.Pos() >= read.End() && stmt.End() <= back.Pos() && syntax.Changes(p, stmt, v) && syntax.LocalVar(p, n) == v {
					same = false
				}
				return same
			})
		}
		return same
	})
	return same
}

// words returns cause and fix, given the size of the element.
func (u *update) words(size string) (cause, fix string) {
	cause = fmt.Sprintf("%s is copied out on line %d and back on line %d (%s each, according to the compiler), to change single fields.", u.of, u.read, u.write, size)
	if !u.kept {
		return cause, fmt.Sprintf("Change it in place: %s := &%s, without putting it back.", u.v, u.of)
	}
	fix = "Keep pointers in the map, and change the element in place: an element of a map has no address."
	if u.guarded {
		fix += " Code that uses an element after the unlock then needs a copy."
	}
	return cause, fix
}
