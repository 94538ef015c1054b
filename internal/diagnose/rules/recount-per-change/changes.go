package recountperchange

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// rarely is how often, per computation of the total, the code may change the collection in a way
// that is not understood.
const rarely = 0.01

// lasting returns the field or package variable that a collection is; nil for others, which a
// caller passes on.
func lasting(p *gocode.Place, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	v := syntax.Named(p, e)
	if v == nil || !v.IsField() && v.Parent() != p.Pkg.Scope() || v.Exported() && v.IsField() && v.Pkg() != p.Pkg {
		return nil
	}
	return v
}
