package largecopy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// element is an element of a slice, an array or a map that a variable gets a copy of, and of which
// the code only reads fields.
type element struct {
	v    string
	of   string // what has the element: xs, or xs[i]
	loop bool   // each iteration gets one
	kept bool   // in a map, whose elements have no address
}

// elementAt returns the element that the line copies; nil for none.
func elementAt(p *gocode.Place) (found *element) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if found == nil && syntax.Line(p, n.For) == p.Line && n.Tok == token.DEFINE {
				found = of(p, n.Value, n.X, n.Body)
				if found != nil {
					found.of, found.loop = syntax.Text(n.X), true
				}
			}
		case *ast.AssignStmt:
			if found == nil && syntax.Line(p, n.Pos()) == p.Line && n.Tok == token.DEFINE && len(n.Rhs) == 1 && !guarded(p) {
				found = assigned(p, n)
			}
		}
		return found == nil
	})
	return found
}

// assigned returns the element of r := xs[i] or r, ok := m[k], if nothing after it in the block
// changes what it is of.
func assigned(p *gocode.Place, n *ast.AssignStmt) *element {
	x, ok := ast.Unparen(n.Rhs[0]).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	parent := syntax.Parent(p, n)
	switch parent.(type) {
	case *ast.BlockStmt, *ast.IfStmt:
	default:
		return nil
	}
	e := of(p, n.Lhs[0], x.X, parent)
	if e != nil {
		e.of = syntax.Text(x)
	}
	return e
}

// of returns the element in v of a list or a map, if code in which v is declared only reads fields
// of v, and does not change the list; nil for others.
func of(p *gocode.Place, v, list ast.Expr, code ast.Node) *element {
	id, ok := v.(*ast.Ident)
	t := p.TypeOf(list)
	if !ok || t == nil || id.Name == "_" {
		return nil
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	e := &element{v: id.Name}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Array:
	case *types.Map:
		e.kept = true
	default:
		return nil
	}
	named, _ := p.Info.Defs[id].(*types.Var)
	if named == nil {
		return nil
	}
	for _, use := range syntax.Uses(p, named) {
		if use != id && !readsField(p, use) {
			return nil
		}
	}
	if written(p, list, code) {
		return nil
	}
	return e
}

// guarded reports whether the function locks something: then a copy protects from changes after the
// unlock.
func guarded(p *gocode.Place) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		name := p.CalleeName(call)
		found = strings.HasPrefix(name, "(*sync.") || strings.HasPrefix(name, "(sync.")
		return !found
	})
	return found
}

// written reports whether code changes the list, or passes it to a function.
func written(p *gocode.Place, list ast.Expr, code ast.Node) bool {
	xs, _ := syntax.Var(p, list)
	if xs == nil {
		return true
	}
	found := false
	ast.Inspect(code, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || p.Object(id) != xs {
			return !found
		}
		for _, up := range p.Enclosing(id) {
			if up == code {
				break
			}
			switch up := up.(type) {
			case *ast.AssignStmt:
				for _, lhs := range up.Lhs {
					found = found || syntax.Within(lhs, id)
				}
			case *ast.UnaryExpr:
				found = found || up.Op == token.AND
			case *ast.IncDecStmt:
				found = true
			case *ast.CallExpr:
				found = found || p.CalleeName(up) != "len"
			}
		}
		return !found
	})
	return found
}

// words returns cause and fix, given the size of the element.
func (e *element) words(size string) (cause, fix string) {
	if e.loop {
		cause = fmt.Sprintf("Every iteration copies an element of %s into %s (%s, according to the compiler), and the body reads only single fields.", e.of, e.v, size)
		fix = fmt.Sprintf("Read it in place: for i := range %s { %s := &%s[i] … }.", e.of, e.v, e.of)
	} else {
		cause = fmt.Sprintf("%s is a copy of %s (%s, according to the compiler), of which only single fields are read.", e.v, e.of, size)
		fix = fmt.Sprintf("Read it in place: %s := &%s.", e.v, e.of)
	}
	if e.kept {
		fix = "Keep pointers in the map: an element of a map has no address, so each lookup copies it."
	}
	return cause, fix
}
