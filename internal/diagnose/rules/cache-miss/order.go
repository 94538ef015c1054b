package cachemiss

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// mapOrder returns the line that builds a key from the entries of a map in the order in which range
// gives them, which is another one each time; "" for other keys.
func mapOrder(p *gocode.Place, key ast.Expr) string {
	e := ast.Unparen(key)
	if v := syntax.LocalVar(p, e); v != nil {
		_, value := syntax.Declared(p, v)
		e = ast.Unparen(value)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if decl := p.Declaration(p.Callee(call)); decl != nil && decl.Body != nil {
		return unsorted(p.Entry(decl), nil)
	}
	switch name := p.CalleeName(call); {
	case funcname.Match(name, "(*strings.Builder).String", "(*bytes.Buffer).String"):
		v, _ := syntax.Var(p, syntax.Receiver(call))
		return unsorted(p, v)
	case name == "strings.Join":
		v, _ := syntax.Var(p, call.Args[0])
		return unsorted(p, v)
	}
	return ""
}

// unsorted returns the loop over a map of a function that adds texts to a builder or a list, if the
// function sorts nothing; "" for none. If of is not nil, they are added to that variable.
func unsorted(p *gocode.Place, of *types.Var) (where string) {
	sorts := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sorts = sorts || funcname.Match(p.CalleeName(n), "sort.*", "slices.Sort*")
		case *ast.RangeStmt:
			t := p.TypeOf(n.X)
			if t == nil || where != "" {
				return true
			}
			if _, is := t.Underlying().(*types.Map); is && adds(p, n, of) {
				where = syntax.Where(p, n.Pos())
			}
		}
		return true
	})
	if sorts {
		return ""
	}
	return where
}

// adds reports whether a loop adds its key or value to a text or a list of texts.
func adds(p *gocode.Place, loop *ast.RangeStmt, of *types.Var) bool {
	var vars []*types.Var
	for _, e := range []ast.Expr{loop.Key, loop.Value} {
		if e == nil {
			continue
		}
		if v := syntax.LocalVar(p, e); v != nil {
			vars = append(vars, v)
		}
	}
	is := func(e ast.Expr) bool {
		v, _ := syntax.Var(p, e)
		return v != nil && (of == nil || v == of)
	}
	found := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if to := syntax.Receiver(n); to != nil && funcname.Match(p.CalleeName(n), "(*strings.Builder).WriteString", "(*bytes.Buffer).WriteString", "(*bytes.Buffer).Write") {
				found = found || is(to) && syntax.Mentions(p, n.Args[0], vars...)
			}
			if funcname.Match(p.CalleeName(n), "fmt.Fprint*") {
				to := ast.Unparen(n.Args[0])
				if addr, ok := to.(*ast.UnaryExpr); ok {
					to = addr.X
				}
				found = found || is(to) && syntax.Mentions(p, n, vars...)
			}
			if p.CalleeName(n) == "append" && len(n.Args) > 1 && syntax.StringOrBytes(syntax.Elem(p.TypeOf(n.Args[0]))) {
				found = found || is(n.Args[0]) && syntax.Mentions(p, n.Args[1], vars...)
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN && syntax.IsString(p, n.Lhs[0]) {
				found = found || is(n.Lhs[0]) && syntax.Mentions(p, n.Rhs[0], vars...)
			}
		}
		return !found
	})
	return found
}
