package syntax

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/gocode"
)

// Field returns the value of a field in a composite literal T{…} or &T{…} of the named type; lit is
// nil when e is not such a literal.
func Field(p *gocode.Place, e ast.Expr, typeName, field string) (lit *ast.CompositeLit, value ast.Expr) {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(u.X)
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok || p.TypeOf(lit) == nil || strings.TrimPrefix(p.TypeOf(lit).String(), "*") != typeName {
		return nil, nil
	}
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
			value = kv.Value
		}
	}
	return lit, value
}

// Buffers returns the local arrays and slices of fixed size that the line declares, with the node
// that allocates them: the variable's name in its declaration, or the make.
func Buffers(p *gocode.Place) map[*types.Var]ast.Node {
	found := map[*types.Var]ast.Node{}
	for _, n := range p.Nodes {
		id, ok := n.(*ast.Ident)
		if !ok || p.Info.Defs[id] == nil || p.Decl == nil || !Inside(p.Decl, id.Pos()) {
			continue
		}
		v := LocalVar(p, id)
		if v == nil {
			continue
		}
		stmt, value := Declared(p, v)
		if stmt == nil {
			continue
		}
		switch v.Type().Underlying().(type) {
		case *types.Array:
			found[v] = id
		case *types.Slice:
			if call, ok := ast.Unparen(OrBad(value)).(*ast.CallExpr); ok && p.CalleeName(call) == "make" && len(Assigned(p, v)) == 1 {
				found[v] = call
			}
		}
	}
	return found
}

// OrBad returns an expression, or one that is nothing if it is nil, for functions that look at an
// expression that may be missing.
func OrBad(e ast.Expr) ast.Expr {
	if e == nil {
		return &ast.BadExpr{}
	}
	return e
}

// Fixed reports whether an expression has the same value whenever it is evaluated: it combines
// constants, and package variables that the package never assigns to, by operators, conversions and
// the calls in pure (patterns as for [funcname.Match]).
func Fixed(p *gocode.Place, e ast.Expr, pure ...string) bool {
	if _, ok := p.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := p.Object(x).(*types.Var)
		return ok && !v.Exported() && p.Initial(v) != nil
	case *ast.BinaryExpr:
		return Fixed(p, x.X, pure...) && Fixed(p, x.Y, pure...)
	case *ast.CallExpr:
		if _, conversion := p.Conversion(x); !conversion && !funcname.Match(p.CalleeName(x), pure...) {
			return false
		}
		for _, arg := range x.Args {
			if !Fixed(p, arg, pure...) {
				return false
			}
		}
		return true
	}
	return false
}

// AllConst reports whether all arguments of a call are constants, or constants converted to a
// slice.
func AllConst(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if conv, ok := ast.Unparen(arg).(*ast.CallExpr); ok && len(conv.Args) == 1 {
			if _, is := p.Conversion(conv); is {
				arg = conv.Args[0]
			}
		}
		if _, ok := p.Const(arg); !ok {
			return false
		}
	}
	return len(call.Args) > 0 && !call.Ellipsis.IsValid()
}

// Operands returns the operands of a + b + c.
func Operands(e ast.Expr) []ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return append(Operands(b.X), Operands(b.Y)...)
	}
	return []ast.Expr{e}
}

// Conjuncts returns the operands of a && b && c.
func Conjuncts(e ast.Expr) []ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return append(Conjuncts(b.X), Conjuncts(b.Y)...)
	}
	return []ast.Expr{e}
}

// ConstInt returns the value of a constant integer.
func ConstInt(p *gocode.Place, e ast.Expr) (int64, bool) {
	v, ok := p.Const(e)
	if !ok || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// EmptySlice reports whether an expression is a slice without elements: []T{}, []T(nil), nil,
// x[:0:0], make([]T, 0).
func EmptySlice(p *gocode.Place, e ast.Expr) bool {
	zero := func(e ast.Expr) bool {
		n, ok := ConstInt(p, e)
		return ok && n == 0
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr:
		return e.Slice3 && zero(e.Max)
	case *ast.CallExpr:
		if _, ok := p.Conversion(e); ok && len(e.Args) == 1 {
			return EmptySlice(p, e.Args[0])
		}
		return p.CalleeName(e) == "make" && len(e.Args) > 1 && zero(e.Args[1])
	case *ast.Ident:
		_, isNil := p.Object(e).(*types.Nil)
		return isNil
	}
	return false
}

// HasIndex reports whether an expression selects an element of a list or a map, or a part of one.
func HasIndex(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		_, ok := n.(*ast.IndexExpr)
		found = found || ok
		return !found
	})
	return found
}

// Makes reports whether an expression makes a list or a map that does not come from another: a
// literal, or a call of make.
func Makes(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return p.CalleeName(e) == "make"
	}
	return false
}
