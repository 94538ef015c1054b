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
