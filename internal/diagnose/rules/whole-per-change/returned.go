package wholeperchange

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// A collection that grows by one element with each of n copies has n/2 elements on average.
const (
	leastGrown = 0.3
	mostGrown  = 0.7
)

// grows reports whether the copies that a function returns seem to be of one collection, to which
// each adds an element: they are as long as that would make them.
func (c *copied) grows(elements float64) bool {
	return c.returned != nil && c.copies >= leastCopies && elements >= leastGrown*c.copies && elements <= mostGrown*c.copies
}

// makes reports whether a call is one of a function of the same package that returns a new map or
// slice.
func makes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() != p.Pkg {
		return false
	}
	switch typeOf(p, call).(type) {
	case *types.Map, *types.Slice:
	default:
		return false
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	in := p.Entry(decl)
	if in == nil {
		return false
	}
	returns, fresh := 0, 0
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns++
			if len(n.Results) != 1 {
				return true
			}
			if made, ok := syntax.Origin(in, n.Results[0]).(*ast.CallExpr); ok && in.CalleeName(made) == "make" {
				fresh++
			}
		}
		return true
	})
	return returns > 0 && fresh == returns
}

// copiedBelow returns what a call of a function of the package copies as a whole, its receiver or
// an argument, or a field of these, and the type of the collection; nil for other calls.
func copiedBelow(p *gocode.Place, call *ast.CallExpr) (from ast.Expr, of types.Type) {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil {
		return nil, nil
	}
	in := p.Entry(decl)
	if in == nil {
		return nil, nil
	}
	var c *copied
	clear := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			if c == nil && len(n.Lhs) == 1 && len(n.Rhs) == 1 {
				c = copyHere(in, n.Lhs[0], n.Rhs[0])
			}
		case *ast.ReturnStmt:
			if len(n.Results) != 1 {
				return true
			}
			if got := copyHere(in, nil, n.Results[0]); got != nil && c == nil {
				c = got
			} else if c == nil || c.next == nil || !c.in(in, n.Results[0]) {
				clear = false
			}
		}
		return true
	})
	if c == nil || !clear {
		return nil, nil
	}
	root, _ := syntax.Var(in, c.from)
	if root == nil || !syntax.Param(in, root) {
		return nil, nil
	}
	return given(in, call, root), c.of
}

// copyHere returns the copy of a collection, itself or in a struct, that a function gives to a
// variable or returns.
func copyHere(p *gocode.Place, to, value ast.Expr) *copied {
	var next *types.Var
	if to != nil {
		if next, _ = syntax.Var(p, to); next == nil || syntax.Param(p, next) {
			return nil
		}
	}
	for _, call := range creating(value) {
		c := &copied{next: next, made: call, by: call, of: typeOf(p, call)}
		if p.CalleeName(call) == "make" && next != nil {
			c.from, c.by = c.filled(p)
		} else {
			c.from = cloned(p, call)
		}
		if c.from != nil {
			return c
		}
	}
	return nil
}

// ofParam reports whether an expression is a parameter or the receiver, or a part of it.
func ofParam(p *gocode.Place, e ast.Expr) bool {
	root, _ := syntax.Var(p, e)
	return root != nil && syntax.Param(p, root)
}
