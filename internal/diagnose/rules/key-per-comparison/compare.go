package keypercomparison

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// keyOn returns the expression on the line of a comparison that the function callee (as profiles
// name it; "" where the line itself is the leaf) computes and that depends on one of the
// comparison's two parameters; nil for none.
func keyOn(p *gocode.Place, callee string) *key {
	c := comparison(p)
	if c == nil {
		return nil
	}
	if callee == "" || funcname.Match(callee, "runtime.concatstring*") {
		return c.concatenation()
	}
	for _, call := range syntax.CallsTo(p, callee) {
		fn := p.Callee(call)
		if fn == nil || fn.Pkg() == nil || effects.Impure(fn) || !syntax.Within(c.body, call) || c.of(call) != 1 {
			continue
		}
		first, _, _ := strings.Cut(fn.Pkg().Path(), "/")
		return &key{expr: call, std: !strings.Contains(first, ".") && fn.Pkg() != p.Pkg}
	}
	// A function literal, through the variable or parameter that it is.
	if call := loops.CallTo(p, callee); call != nil && p.Callee(call) == nil && syntax.Within(c.body, call) && c.of(call) == 1 {
		return &key{expr: call}
	}
	return nil
}

// compares is a function with two parameters of one type: elements or their indices.
type compares struct {
	place *gocode.Place
	body  *ast.BlockStmt
	a, b  types.Object
}

// comparison returns the comparison that a line is in: the function around it or, if that is not
// one, a literal on the line.
func comparison(p *gocode.Place) *compares {
	if c := ofFunc(p, p.Func); c != nil {
		return c
	}
	var found *compares
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok && found == nil && syntax.Line(p, lit.Pos()) <= p.Line && p.Line <= syntax.Line(p, lit.End()) {
			found = ofFunc(p, lit)
		}
		return found == nil
	})
	return found
}

func ofFunc(p *gocode.Place, f ast.Node) *compares {
	var t *ast.FuncType
	c := compares{place: p}
	switch f := f.(type) {
	case *ast.FuncDecl:
		t, c.body = f.Type, f.Body
	case *ast.FuncLit:
		t, c.body = f.Type, f.Body
	default:
		return nil
	}
	params := named(p, t.Params)
	if f, ok := f.(*ast.FuncDecl); ok && len(params) == 1 { // a.Compare(b)
		params = append(named(p, f.Recv), params...)
	}
	if len(params) != 2 || params[0] == nil || params[1] == nil || !types.Identical(params[0].Type(), params[1].Type()) || c.body == nil {
		return nil
	}
	c.a, c.b = params[0], params[1]
	return &c
}

// named returns the objects of the names in a list of parameters.
func named(p *gocode.Place, list *ast.FieldList) (params []types.Object) {
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			params = append(params, p.Info.Defs[name])
		}
	}
	return params
}

// of returns how many of the two parameters an expression depends on, also through local variables.
func (c *compares) of(e ast.Expr) int {
	seen := map[types.Object]bool{}
	c.follow(e, seen)
	n := 0
	for _, param := range []types.Object{c.a, c.b} {
		if seen[param] {
			n++
		}
	}
	return n
}

func (c *compares) follow(e ast.Node, seen map[types.Object]bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := c.place.Object(id).(*types.Var)
		if !ok || seen[v] {
			return true
		}
		seen[v] = true
		if v.Pos() < c.body.Pos() || v.Pos() >= c.body.End() {
			return true
		}
		ast.Inspect(c.body, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				for i, lhs := range a.Lhs {
					if w, _ := syntax.Var(c.place, lhs); w == v {
						c.follow(a.Rhs[min(i, len(a.Rhs)-1)], seen)
					}
				}
			}
			return true
		})
		return true
	})
}

// concatenation returns a concatenation of strings on the line that depends on one parameter.
func (c *compares) concatenation() *key {
	var found *key
	ast.Inspect(c.body, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || found != nil {
			return found == nil
		}
		if _, constant := c.place.Const(b); b.Op == token.ADD && !constant && syntax.IsString(c.place, b) && syntax.Line(c.place, b.OpPos) == c.place.Line && c.of(b) == 1 {
			found = &key{expr: b, std: true}
		}
		return found == nil
	})
	return found
}
