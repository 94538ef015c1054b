package copyonheap

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// uses says how a function uses a variable that is moved to the heap.
type uses struct {
	address  int64  // bytes of what has its address taken
	fields   bool   // only of fields, in the source
	line     int    // of the first address
	text     string // of it
	captured int64  // bytes of the fields that function literals read; 0 if they do more
	literal  int    // line of the first
}

// usesOf returns how the function uses a variable; false if it changes the variable, or uses it in
// a way that the rule does not follow.
func usesOf(p *gocode.Place, v *types.Var) (u uses, ok bool) {
	if changed(p, v) {
		return u, false
	}
	whole := p.Outer()
	taken, read := map[string]int64{}, map[string]int64{}
	inside := false
	u.fields = true
	for _, id := range syntax.Reads(p, v) {
		lit := syntax.Capturing(whole, v, id)
		e, implicit := addressed(whole, id)
		if lit != nil {
			field := fieldRead(whole, id)
			if e != nil || field == nil {
				inside = true
				continue
			}
			read[types.ExprString(field)] = syntax.Sizes().Sizeof(p.TypeOf(field))
			if line := syntax.Line(p, lit.Pos()); u.literal == 0 || line < u.literal {
				u.literal = line
			}
			continue
		}
		if e == nil {
			continue
		}
		if written(whole, id) {
			return u, false
		}
		u.fields = u.fields && !implicit && e != ast.Expr(id)
		taken[types.ExprString(e)] = syntax.Sizes().Sizeof(p.TypeOf(e))
		if line := syntax.Line(p, id.Pos()); u.line == 0 || line < u.line {
			u.line, u.text = line, "&"+syntax.Text(e)
		}
	}
	u.address, u.captured = sum(taken), sum(read)
	if inside {
		u.captured = 0
		return u, u.address > 0
	}
	return u, u.address+u.captured > 0
}

func sum(sizes map[string]int64) (n int64) {
	for _, size := range sizes {
		n += size
	}
	return n
}

// addressed returns the variable or the part of it whose address an expression around a use takes;
// nil for none. implicit is true for calls of methods with a pointer receiver, and for slices of
// arrays.
func addressed(p *gocode.Place, id *ast.Ident) (e ast.Expr, implicit bool) {
	e = id
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.ParenExpr:
		case *ast.SelectorExpr:
			s := p.Info.Selections[n]
			if s == nil || s.Kind() != types.FieldVal {
				if syntax.TakesAddress(p, n) {
					return e, true
				}
				return nil, false
			}
			if s.Indirect() {
				return nil, false
			}
			e = n
		case *ast.IndexExpr:
			if n.X != e || !syntax.IsArray(p, e) {
				return nil, false
			}
			e = n
		case *ast.SliceExpr:
			if n.X == e && syntax.IsArray(p, e) {
				return e, true
			}
			return nil, false
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				return e, false
			}
			return nil, false
		default:
			return nil, false
		}
	}
	return nil, false
}

// fieldRead returns the field of a variable that is read where it is used; nil for other uses.
func fieldRead(p *gocode.Place, id *ast.Ident) ast.Expr {
	sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
	if !ok || sel.X != id {
		return nil
	}
	if s := p.Info.Selections[sel]; s == nil || s.Kind() != types.FieldVal {
		return nil
	}
	return sel
}

// changed reports whether the function sets a variable or a part of it after its declaration.
func changed(p *gocode.Place, v *types.Var) bool {
	whole := p.Outer()
	for _, id := range syntax.Uses(p, v) {
		if p.Info.Defs[id] != nil {
			continue
		}
		if syntax.Defines(whole, id) {
			return true
		}
		var child ast.Node = id
		for _, n := range whole.Enclosing(id) {
			if sets, more := setting(n, child); sets {
				return true
			} else if !more {
				break
			}
			child = n
		}
	}
	return false
}

// setting reports whether a node sets its operand, and whether the node around it may.
func setting(n, child ast.Node) (sets, more bool) {
	switch n := n.(type) {
	case *ast.ParenExpr, *ast.SelectorExpr:
		return false, true
	case *ast.IndexExpr:
		return false, n.X == child
	case *ast.IncDecStmt:
		return true, false
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if lhs == child {
				return true, false
			}
		}
	}
	return false, false
}

// elementOf returns the slice of whose elements a variable is a copy, and an index for the advice;
// nil for other variables.
func elementOf(p *gocode.Place, v *types.Var) (list ast.Expr, index string) {
	stmt, value := syntax.Declared(p.Outer(), v)
	switch stmt := stmt.(type) {
	case *ast.RangeStmt:
		if id, ok := stmt.Value.(*ast.Ident); ok && stmt.Tok == token.DEFINE && p.Info.Defs[id] == v {
			list, index = stmt.X, "i"
		}
	case *ast.AssignStmt, *ast.ValueSpec:
		if at, ok := ast.Unparen(value).(*ast.IndexExpr); ok && value != nil {
			list, index = at.X, syntax.Text(at.Index)
		}
	}
	if list == nil {
		return nil, ""
	}
	if _, slice := p.TypeOf(list).Underlying().(*types.Slice); !slice {
		return nil, ""
	}
	return list, index
}

// sets reports whether the function sets elements of a slice, or fills it by a call: a buffer that
// is used again, whose elements do not stay.
func sets(p *gocode.Place, list ast.Expr) (found bool) {
	root, _ := syntax.Var(p, list)
	if root == nil {
		_, call := ast.Unparen(list).(*ast.CallExpr)
		return !call // the result of a call is nobody else's, or is described by its function
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				switch at := ast.Unparen(lhs).(type) {
				case *ast.IndexExpr:
					found = found || syntax.Same(p, at.X, list)
				case *ast.SelectorExpr:
					if in, ok := ast.Unparen(at.X).(*ast.IndexExpr); ok {
						found = found || syntax.Same(p, in.X, list)
					}
				}
			}
		case *ast.CallExpr:
			for _, arg := range n.Args {
				if s, ok := ast.Unparen(arg).(*ast.SliceExpr); ok {
					found = found || syntax.Same(p, s.X, list)
				}
				if ref, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && ref.Op == token.AND {
					found = found || syntax.Same(p, ref.X, list)
				}
			}
		}
		return !found
	})
	return found
}

// locks reports whether the function locks a mutex: its copies then protect from changes.
func locks(p *gocode.Place) (found bool) {
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Lock" || sel.Sel.Name == "RLock") {
				found = true
			}
		}
		return !found
	})
	return found
}
