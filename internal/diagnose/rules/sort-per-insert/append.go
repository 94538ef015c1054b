package sortperinsert

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const (
	// deepest is the number of functions that are followed to an append.
	deepest = 2
	// fewElements is the largest number that one append adds.
	fewElements = 2
)

// addition is a statement that appends an element to a list.
type addition struct {
	place *gocode.Place // of its function
	at    token.Pos
	to    ast.Expr
}

// where names the line of the append, for sentences about a function.
func (a *addition) where(p *gocode.Place) string {
	if a.place.Decl != p.Decl {
		return syntax.Where(a.place, a.at)
	}
	return fmt.Sprintf("line %d", syntax.Line(a.place, a.at))
}

// appendedBefore returns the statement that appended one element to a list before a call, which
// sorts it: in the block around the call, perhaps on a condition. The call itself may be on the
// condition that the list has more than one element.
func appendedBefore(p *gocode.Place, call *ast.CallExpr, l list) *addition {
	for _, n := range p.Enclosing(call) {
		var before []ast.Stmt
		switch n := n.(type) {
		case *ast.IfStmt:
			if !syntax.Within(n.Cond, call) && !(syntax.Within(n.Body, call) && several(p, n.Cond)) {
				return nil // an append further out belongs to another condition
			}
		case *ast.ForStmt, *ast.RangeStmt:
			return nil
		case *ast.BlockStmt:
			before = n.List
		case *ast.CaseClause:
			before = n.Body
		}
		for _, stmt := range before {
			if stmt.End() >= call.Pos() {
				break
			}
			if a := appendsIn(p, stmt, l, 0); a != nil {
				return a
			}
		}
		if _, ok := n.(*ast.CaseClause); ok {
			return nil
		}
	}
	return nil
}

// several reports whether a condition is that a list has more than one element or two.
func several(p *gocode.Place, cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != token.GTR && b.Op != token.GEQ {
		return false
	}
	n, constant := syntax.ConstInt(p, b.Y)
	call, ok := ast.Unparen(b.X).(*ast.CallExpr)
	return ok && constant && n <= 2 && p.CalleeName(call) == "len"
}

// appendsIn returns the append of one element to a list that a statement does, or one of those
// under a condition, or a function of the package that it calls.
func appendsIn(p *gocode.Place, stmt ast.Stmt, l list, depth int) *addition {
	switch s := stmt.(type) {
	case *ast.IfStmt:
		if s.Init != nil {
			if a := appendsIn(p, s.Init, l, depth); a != nil {
				return a
			}
		}
		for _, branch := range []ast.Stmt{s.Body, s.Else} {
			if branch == nil {
				continue
			}
			if a := appendsIn(p, branch, l, depth); a != nil {
				return a
			}
		}
	case *ast.BlockStmt:
		for _, inner := range s.List {
			if a := appendsIn(p, inner, l, depth); a != nil {
				return a
			}
		}
	case *ast.ExprStmt:
		return appendsBelow(p, s.X, l, depth)
	case *ast.AssignStmt:
		if appendsOne(p, s, l) {
			return &addition{p, s.Pos(), s.Lhs[0]}
		}
		if len(s.Rhs) == 1 {
			return appendsBelow(p, s.Rhs[0], l, depth)
		}
	}
	return nil
}

// appendsBelow returns the append of one element to a list in a function of the package that gets
// the list.
func appendsBelow(p *gocode.Place, e ast.Expr, l list, depth int) (found *addition) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || depth == deepest {
		return nil
	}
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil {
		return nil
	}
	below := p.Entry(decl)
	for _, v := range given(below, decl) {
		passed, ok := (list{v, v.Name()}).given(below, p, call)
		if rest, cut := strings.CutPrefix(l.text, passed.text); ok && cut && passed.root == l.root {
			if found = appendsIn(below, decl.Body, list{v, v.Name() + rest}, depth+1); found != nil {
				return found
			}
		}
	}
	return nil
}

// given returns the receiver and the parameters of a function.
func given(p *gocode.Place, decl *ast.FuncDecl) (all []*types.Var) {
	for _, fields := range []*ast.FieldList{decl.Recv, decl.Type.Params} {
		if fields == nil {
			continue
		}
		for _, f := range fields.List {
			for _, name := range f.Names {
				if v, ok := p.Object(name).(*types.Var); ok {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// appendsOne reports whether a statement appends one element to a list, to the field of a struct
// that sorts itself, or to the entry of a map from which the list comes.
func appendsOne(p *gocode.Place, a *ast.AssignStmt, l list) bool {
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	to := a.Lhs[0]
	if sel, ok := ast.Unparen(to).(*ast.SelectorExpr); !l.is(p, to) && (!ok || !l.is(p, sel.X) || isSlice(p, sel.X)) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "append" || len(call.Args) < 2 || len(call.Args) > 1+fewElements || call.Ellipsis.IsValid() {
		return false
	}
	return named(p, to).is(p, call.Args[0]) || storedBack(p, to, call.Args[0])
}

// isSlice reports whether an expression is a slice: what is appended to a field of its elements is
// not appended to it.
func isSlice(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return true
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// storedBack reports whether a function assigns a variable to the entry of a map or the field that
// it got the list from: xs := append(m[k], x), and later m[k] = xs.
func storedBack(p *gocode.Place, xs, from ast.Expr) bool {
	v := syntax.LocalVar(p, xs)
	if v == nil {
		return false
	}
	switch ast.Unparen(from).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
	default:
		return false
	}
	for _, id := range syntax.Reads(p, v) {
		if to := syntax.AssignedTo(p.Outer(), id); to != nil && types.ExprString(to) == types.ExprString(from) {
			return true
		}
	}
	return false
}
