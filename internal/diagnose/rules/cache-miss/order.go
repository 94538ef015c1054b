package cachemiss

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// levels is how many functions of the package are followed from a key.
const levels = 3

// mapOrder returns the line that builds a key from the entries of a map in the order in which range
// gives them, which is another one each time; "" for other keys.
func mapOrder(p *gocode.Place, key ast.Expr) string { return keyOrder(p, key, levels) }

// keyOrder is mapOrder for a part of a key.
func keyOrder(p *gocode.Place, key ast.Expr, depth int) string {
	e := ast.Unparen(key)
	if v := syntax.LocalVar(p, e); v != nil {
		stmt, value := syntax.Declared(p, v)
		if a, ok := stmt.(*ast.AssignStmt); ok && value == nil && len(a.Rhs) == 1 { // key, err := keyOf(m)
			value = a.Rhs[0]
		}
		if value == nil || depth == 0 {
			return unsorted(p, v, depth)
		}
		if where := unsorted(p, v, depth); where != "" && syntax.IsString(p, e) {
			return where // key += …
		}
		return keyOrder(p, value, depth-1)
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		if where := keyOrder(p, x.X, depth); where != "" {
			return where
		}
		return keyOrder(p, x.Y, depth)
	case *ast.SliceExpr:
		return keyOrder(p, x.X, depth)
	case *ast.CallExpr:
		return calledOrder(p, x, depth)
	}
	return ""
}

// calledOrder is keyOrder for the result of a call.
func calledOrder(p *gocode.Place, call *ast.CallExpr, depth int) string {
	if decl := p.Declaration(p.Callee(call)); decl != nil && decl.Body != nil && depth > 0 {
		return unsorted(p.Entry(decl), nil, depth-1)
	}
	name := p.CalleeName(call)
	_, conversion := p.Conversion(call)
	switch {
	case funcname.Match(name, "(*strings.Builder).String", "(*bytes.Buffer).String", "(*bytes.Buffer).Bytes", "(hash.Hash*).Sum*", "(*hash/maphash.Hash).Sum64"):
		v, _ := syntax.Var(p, syntax.Receiver(call))
		return unsorted(p, v, depth)
	case conversion, funcname.Match(name, "fmt.Sprint*", "strings.Join", "crypto/*.Sum*", "hash/*.Checksum*", "encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString"):
		for _, arg := range call.Args {
			if where := keyOrder(p, arg, depth); where != "" {
				return where
			}
		}
	}
	return ""
}

// unsorted returns the loop over a map of a function that adds texts to a builder, a hash or a
// list, if the function sorts nothing; "" for none. If of is not nil, they are added to that
// variable.
func unsorted(p *gocode.Place, of *types.Var, depth int) (where string) {
	sorts := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sorts = sorts || sorting(p, n, levels)
			decl := p.Declaration(p.Callee(n))
			if decl == nil || decl.Body == nil || decl == p.Decl || depth == 0 || where != "" || of != nil && !passes(p, n, of) {
				return true
			}
			where = unsorted(p.Entry(decl), nil, depth-1) // writeLabels(&b, labels)
		case *ast.RangeStmt:
			if where == "" && ofMap(p, n.X) && adds(p, n, of) {
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

// ofMap reports whether a loop goes over a map, or its keys or values.
func ofMap(p *gocode.Place, e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), "maps.Keys", "maps.Values", "maps.All") {
		return true
	}
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	_, is := t.Underlying().(*types.Map)
	return is
}

// passes reports whether a call gets a variable, or its address.
func passes(p *gocode.Place, call *ast.CallExpr, v *types.Var) bool {
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok {
			arg = u.X
		}
		if syntax.LocalVar(p, arg) == v {
			return true
		}
	}
	return false
}

// sorting reports whether a call sorts something, itself or in a function of the package.
func sorting(p *gocode.Place, call *ast.CallExpr, depth int) (found bool) {
	if name := p.CalleeName(call); funcname.Match(name, "sort.*", "slices.Sort*") {
		return true
	}
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || depth == 0 || decl == p.Decl {
		return false
	}
	in := p.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		found = found || ok && sorting(in, c, depth-1)
		return !found
	})
	return found
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
			if to := syntax.Receiver(n); to != nil && funcname.Match(p.CalleeName(n), "(*strings.Builder).Write*", "(*bytes.Buffer).Write*", "(io.Writer).Write", "(*hash/maphash.Hash).Write*") {
				found = found || is(to) && syntax.Mentions(p, n, vars...)
			}
			if funcname.Match(p.CalleeName(n), "fmt.Fprint*", "io.WriteString") {
				to := ast.Unparen(n.Args[0])
				if addr, ok := to.(*ast.UnaryExpr); ok {
					to = addr.X
				}
				found = found || is(to) && syntax.Mentions(p, n, vars...)
			}
			if name := p.CalleeName(n); (name == "append" || strings.HasPrefix(name, "strconv.Append")) && len(n.Args) > 1 && textual(p, n.Args[0]) {
				found = found || is(n.Args[0]) && syntax.Mentions(p, n, vars...)
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

// textual reports whether an expression is a list of texts, or of bytes.
func textual(p *gocode.Place, e ast.Expr) bool {
	return syntax.StringOrBytes(p.TypeOf(e)) || syntax.StringOrBytes(syntax.Elem(p.TypeOf(e)))
}
