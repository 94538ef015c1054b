package clonetoread

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// stored reports whether a value in the frame i of a row is part of what the program keeps: reached
// from a receiver or a package variable, in this function or in the callers that pass it.
func (s *search) stored(r *site.Row, i int, p *gocode.Place, e ast.Expr) bool {
	for j := i; j < len(r.Stack) && j <= i+levels; j++ {
		root, reached := origin(p.Outer(), e)
		switch {
		case root == nil || root.IsField():
			return false
		case root.Parent() == p.Pkg.Scope() || root.Pkg() != p.Pkg:
			return true
		case receiver(p, root):
			if reached {
				return true
			}
		case !parameter(p, root):
			return false
		}
		if j+1 >= len(r.Stack) || r.Stack[j+1].Owner.Kind != gocode.Main {
			return false
		}
		next, ok := s.pass.Syntax.At(r.Stack[j+1].File, r.Stack[j+1].Line)
		if !ok {
			return false
		}
		call := loops.CallTo(next, r.Stack[j].Function)
		if call == nil {
			return false
		}
		if e = flow.ArgumentFor(entry(p), call, root); e == nil {
			return false
		}
		p = next
	}
	return false
}

// entry returns the place of the declaration around a place.
func entry(p *gocode.Place) *gocode.Place { return p.Outer() }

// origin returns the variable that an expression's value is reached from: through fields,
// elements, loops, lookups, local variables and methods that return one. reached is true if there
// is more than the variable itself.
func origin(p *gocode.Place, e ast.Expr) (root *types.Var, reached bool) {
	for range 16 {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, ok := p.Object(x).(*types.Var)
			if !ok {
				return nil, false
			}
			next := from(p, v)
			if next == nil {
				return v, reached
			}
			e, reached = next, true
		case *ast.SelectorExpr:
			if p.Info.Selections[x] == nil { // package.Var
				v, _ := p.Object(x.Sel).(*types.Var)
				return v, true
			}
			e, reached = x.X, true
		case *ast.IndexExpr:
			e, reached = x.X, true
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil, false
			}
			e = x.X
		case *ast.CallExpr:
			of := syntax.Receiver(x)
			if of == nil || p.Callee(x) == nil || p.Callee(x).Signature().Recv() == nil {
				return nil, false
			}
			e, reached = of, true
		default:
			return nil, false
		}
	}
	return nil, false
}

// from returns the expression that a local variable gets its value from: the only one, or that of a
// loop; nil for none.
func from(p *gocode.Place, v *types.Var) ast.Expr {
	if v.IsField() || v.Parent() == p.Pkg.Scope() {
		return nil
	}
	stmt, value := syntax.Declared(p, v)
	switch stmt := stmt.(type) {
	case *ast.RangeStmt:
		return stmt.X
	case *ast.AssignStmt:
		if len(syntax.Assigned(p, v)) > 1 {
			return nil
		}
		if value == nil && len(stmt.Rhs) == 1 {
			return stmt.Rhs[0]
		}
	}
	return value
}

func receiver(p *gocode.Place, v *types.Var) bool {
	return p.Decl != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())
}

func parameter(p *gocode.Place, v *types.Var) bool {
	return p.Decl != nil && syntax.Inside(p.Decl.Type.Params, v.Pos())
}

// changes returns how often the packages of a place and of a type set fields of such values, or
// what the fields refer to, for each unit of work; false if that is not known. Functions that
// make copies do not count.
func (s *search) changes(p *gocode.Place, of types.Type) (sum float64, known bool) {
	known = true
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || s.copies.Original(p.Entry(decl)) != nil {
				continue
			}
			in := p.Entry(decl)
			add := func(e ast.Expr) {
				if !sets(in, e, of) {
					return
				}
				e2, ok := evidence.ExecutionsAt(s.pass, in, e.Pos())
				sum += e2.PerUnit
				known = known && (ok || !s.pass.Counts.Ran(p.Pkg.Path(), in.Fset.Position(e.Pos()).Filename))
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, lhs := range n.Lhs {
						add(lhs)
					}
				case *ast.IncDecStmt:
					add(n.X)
				case *ast.CallExpr:
					if name := in.CalleeName(n); name == "delete" || name == "clear" || name == "copy" {
						add(n.Args[0])
					}
				}
				return true
			})
		}
	}
	return sum, known
}

// sets reports whether an expression that is set is a part of a value of a type.
func sets(p *gocode.Place, e ast.Expr, of types.Type) bool {
	element := false
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			t := p.TypeOf(x.X)
			if t == nil {
				return false
			}
			if ptr, ok := t.Underlying().(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if types.Identical(t, of) {
				return !fresh(p, x.X) && (element || !held(p, x.X))
			}
			e = x.X
		case *ast.IndexExpr:
			e, element = x.X, true
		case *ast.StarExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return false
		}
	}
}

// held reports whether an expression is a local variable that has a struct itself, not a pointer.
func held(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return false
	}
	_, itself := v.Type().Underlying().(*types.Struct)
	return itself
}

// fresh reports whether a variable has a value that its function created.
func fresh(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil || parameter(p, v) || receiver(p, v) {
		return false
	}
	values := syntax.Assigned(p, v)
	for _, value := range values {
		if u, ok := ast.Unparen(value).(*ast.UnaryExpr); ok && u.Op == token.AND {
			value = u.X
		}
		if _, literal := ast.Unparen(value).(*ast.CompositeLit); !literal {
			return false
		}
	}
	if len(values) > 0 {
		return true
	}
	stmt, _ := syntax.Declared(p, v)
	_, declared := stmt.(*ast.ValueSpec)
	_, pointer := v.Type().Underlying().(*types.Pointer)
	return declared && !pointer
}
