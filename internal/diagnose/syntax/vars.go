package syntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/gocode"
)

// Var returns the variable that an expression names: a local, a package variable, or for x.f and
// x[i] the variable x at its root. part is true when the expression is a part of the variable.
func Var(p *gocode.Place, e ast.Expr) (v *types.Var, part bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ = p.Info.ObjectOf(x).(*types.Var)
			return v, part
		case *ast.SelectorExpr:
			if p.Info.Selections[x] == nil { // package.Var
				v, _ = p.Info.Uses[x.Sel].(*types.Var)
				return v, part
			}
			e, part = x.X, true
		case *ast.IndexExpr:
			e, part = x.X, true
		case *ast.StarExpr:
			e, part = x.X, true
		default:
			return nil, part
		}
	}
}

// Named returns the variable or field that an expression names: v, x.f, *v; nil for others.
func Named(p *gocode.Place, e ast.Expr) *types.Var {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := p.Object(x).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := p.Object(x.Sel).(*types.Var)
		return v
	case *ast.StarExpr:
		return Named(p, x.X)
	}
	return nil
}

// Same reports whether two expressions name the same variable, field or element in the same
// notation.
func Same(p *gocode.Place, a, b ast.Expr) bool {
	va, _ := Var(p, a)
	vb, _ := Var(p, b)
	return va != nil && va == vb && types.ExprString(ast.Unparen(a)) == types.ExprString(ast.Unparen(b))
}

// Uses returns the identifiers in the function of the place that denote v.
func Uses(p *gocode.Place, v types.Object) []*ast.Ident {
	var uses []*ast.Ident
	root := Body(p)
	if p.Decl != nil {
		root = p.Decl // a variable captured by a closure is used outside it too
	}
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.Info.ObjectOf(id) == v {
			uses = append(uses, id)
		}
		return true
	})
	return uses
}

// Assigned returns the expressions that the function assigns to v, one to one.
func Assigned(p *gocode.Place, v types.Object) []ast.Expr {
	var values []ast.Expr
	var root ast.Node = Body(p)
	if p.Decl != nil {
		root = p.Decl
	}
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && p.Object(id) == v
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) && is(lhs) {
					values = append(values, n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) && is(name) {
					values = append(values, n.Values[i])
				}
			}
		}
		return true
	})
	return values
}

// Local reports whether v is a variable of the function around the place.
func Local(p *gocode.Place, v *types.Var) bool {
	return v != nil && !v.IsField() && p.Decl != nil && p.Decl.Pos() <= v.Pos() && v.Pos() < p.Decl.End()
}

// ParamIndex returns the index of a parameter v in a signature, which may be nil; -1 for others.
func ParamIndex(sig *types.Signature, v *types.Var) int {
	if sig == nil {
		return -1
	}
	for i := range sig.Params().Len() {
		if sig.Params().At(i) == v {
			return i
		}
	}
	return -1
}

// Param reports whether a variable is a parameter or the receiver of the function around the place.
func Param(p *gocode.Place, v *types.Var) bool {
	var fields []*ast.FieldList
	switch f := p.Func.(type) {
	case *ast.FuncDecl:
		fields = append(fields, f.Recv, f.Type.Params)
	case *ast.FuncLit:
		fields = append(fields, f.Type.Params)
	}
	for _, list := range fields {
		if list != nil && list.Pos() <= v.Pos() && v.Pos() < list.End() {
			return true
		}
	}
	return false
}

// Origin returns the expression that created the value of an expression: it follows parentheses, a
// package variable that is never set again, and a local one that is assigned once, alone or as the
// first result of a call. It returns e itself when there is nothing to follow.
func Origin(p *gocode.Place, e ast.Expr) ast.Expr {
	for range 8 { // a declaration may refer to itself through others
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return ast.Unparen(e)
		}
		v, ok := p.Object(id).(*types.Var)
		if !ok {
			return id
		}
		if initial := p.Initial(v); initial != nil {
			e = initial
			continue
		}
		values := Assigned(p, v)
		if len(values) == 0 {
			values = firstOf(p, v)
		}
		if !Local(p, v) || len(values) != 1 {
			return id
		}
		if whole, _ := writes(p, p.Decl, v); whole > 1 {
			return id
		}
		e = values[0]
	}
	return ast.Unparen(e)
}

// firstOf returns the calls whose first of several results the function assigns to v.
func firstOf(p *gocode.Place, v *types.Var) (calls []ast.Expr) {
	if p.Decl == nil {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) < 2 || len(a.Rhs) != 1 {
			return true
		}
		if id, ok := a.Lhs[0].(*ast.Ident); ok && p.Object(id) == v {
			if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok {
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// Elem returns the type of the elements of a slice or an array; nil for other types.
func Elem(t types.Type) types.Type {
	switch t := Core(t).(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	}
	return nil
}

// LocalVar returns the local variable that an expression is; nil for a field, an element, a package
// variable or another expression.
func LocalVar(p *gocode.Place, e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := p.Object(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == p.Pkg.Scope() || v.Parent() == types.Universe {
		return nil
	}
	return v
}

// Declared returns the statement that declares a local variable in the place's declaration, with
// its initial value (nil: the zero value, or one of several results). nil for parameters and
// results.
func Declared(p *gocode.Place, v *types.Var) (stmt ast.Node, value ast.Expr) {
	if p.Decl == nil || v == nil {
		return nil, nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && p.Info.Defs[id] == v {
					stmt = n
					if len(n.Lhs) == len(n.Rhs) {
						value = n.Rhs[i]
					}
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if p.Info.Defs[id] == v {
					stmt = n
					if len(n.Names) == len(n.Values) {
						value = n.Values[i]
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && p.Info.Defs[id] == v {
					stmt = n
				}
			}
		}
		return stmt == nil
	})
	return stmt, value
}

// AssignedTo returns the left-hand side that the value of e is assigned to in an assignment or
// declaration; nil when there is none.
func AssignedTo(p *gocode.Place, e ast.Expr) ast.Expr {
	match := func(values []ast.Expr) int {
		for i, v := range values {
			if ast.Unparen(v) == ast.Unparen(e) {
				return i
			}
		}
		return -1
	}
	switch n := Parent(p, e).(type) {
	case *ast.AssignStmt:
		if i := match(n.Rhs); i >= 0 && len(n.Rhs) <= len(n.Lhs) {
			return n.Lhs[i]
		}
	case *ast.ValueSpec:
		if i := match(n.Values); i >= 0 && i < len(n.Names) {
			return n.Names[i]
		}
	}
	return nil
}

// Defines reports whether an expression is declared or assigned to here, and so is not read.
func Defines(p *gocode.Place, e ast.Expr) bool {
	is := func(x ast.Expr) bool { return ast.Unparen(x) == e }
	switch n := Parent(p, e).(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, is)
	case *ast.ValueSpec:
		return slices.ContainsFunc(n.Names, func(name *ast.Ident) bool { return name == e })
	case *ast.RangeStmt:
		return n.Key == e || n.Value == e
	case *ast.Field:
		return true
	}
	return false
}

// Reads returns the uses of a local variable that read it.
func Reads(p *gocode.Place, v *types.Var) []*ast.Ident {
	var reads []*ast.Ident
	for _, id := range Uses(p, v) {
		if p.Info.Defs[id] == nil && !Defines(p.Outer(), id) {
			reads = append(reads, id)
		}
	}
	return reads
}

// Result returns the variable that the first result of a call is assigned to; nil for none.
func Result(p *gocode.Place, call *ast.CallExpr) *types.Var {
	id, ok := AssignedTo(p, call).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.Object(id).(*types.Var)
	return v
}

// Changes reports whether root contains something that may change v: an assignment to it or a part
// of it, ++, a range clause, or its address, which a slice of an array holds.
func Changes(p *gocode.Place, root ast.Node, v *types.Var) bool {
	whole, part := writes(p, root, v)
	return v != nil && whole+part > 0
}

// writes returns how often, below root, v or a part of it is declared with a value, assigned to,
// ranged into or has its address taken. A parameter counts as one.
func writes(p *gocode.Place, root ast.Node, v *types.Var) (whole, part int) {
	count := func(e ast.Expr) {
		if e == nil {
			return
		}
		switch w, of := Var(p, e); {
		case w != v || v == nil:
		case of:
			part++
		default:
			whole++
		}
	}
	ast.Inspect(root, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for _, lhs := range x.Lhs {
				count(lhs)
			}
		case *ast.ValueSpec:
			for _, name := range x.Names {
				if len(x.Values) > 0 {
					count(name)
				}
			}
		case *ast.RangeStmt:
			count(x.Key)
			count(x.Value)
		case *ast.IncDecStmt:
			count(x.X)
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				count(x.X)
			}
		case *ast.SliceExpr:
			if IsArray(p, x.X) {
				count(x.X)
			}
		case *ast.Field:
			for _, name := range x.Names {
				count(name)
			}
		}
		return true
	})
	return whole, part
}

// IsArray reports whether an expression is an array, not a pointer to one. Slices share its
// elements.
func IsArray(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// IsResult reports whether v is a named result of the place's function or of the declaration around
// it, so that the function returns its value.
func IsResult(p *gocode.Place, v *types.Var) bool {
	in := func(ft *ast.FuncType) bool { return ft.Results != nil && Inside(ft.Results, v.Pos()) }
	if lit, ok := p.Func.(*ast.FuncLit); ok && in(lit.Type) {
		return true
	}
	return p.Decl != nil && in(p.Decl.Type)
}

// PlainData reports whether values of a type refer to nothing else: numbers, strings, and arrays
// and structs of them.
func PlainData(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Array:
		return PlainData(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !PlainData(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// Mentions reports whether a node names one of some variables.
func Mentions(p *gocode.Place, n ast.Node, vars ...*types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			v, _ := p.Object(id).(*types.Var)
			found = v != nil && slices.Contains(vars, v)
		}
		return !found
	})
	return found
}

// IsMap reports whether a type is one of maps. It may be nil.
func IsMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// IsError reports whether a type is the predeclared error.
func IsError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// TakesAny reports whether a parameter of a type takes values of any type, alone or as ...any.
func TakesAny(t types.Type) bool {
	if s, ok := t.(*types.Slice); ok {
		t = s.Elem()
	}
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}
