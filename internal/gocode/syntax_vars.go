package gocode

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Initial returns the expression that a package variable of the place's own package is
// declared with, when it keeps that value: nothing in the package assigns it again or
// takes its address. nil when that is not so, or not known. Other packages may still assign
// an exported variable.
func (p *Place) Initial(v *types.Var) ast.Expr {
	if v == nil || p.Pkg == nil || v.Parent() != p.Pkg.Scope() {
		return nil
	}
	var initial ast.Expr
	for _, f := range p.files {
		kept := true
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if p.Info.Defs[name] == v && len(n.Names) == len(n.Values) {
						initial = n.Values[i]
					}
				}
			case *ast.AssignStmt:
				for _, lhs := range n.Lhs {
					kept = kept && !p.names(lhs, v)
				}
			case *ast.RangeStmt:
				kept = kept && !p.names(n.Key, v) && !p.names(n.Value, v)
			case *ast.IncDecStmt:
				kept = kept && !p.names(n.X, v)
			case *ast.UnaryExpr:
				kept = kept && !(n.Op == token.AND && p.names(n.X, v))
			}
			return kept
		})
		if !kept {
			return nil
		}
	}
	return initial
}

// names reports whether an expression is the variable itself.
func (p *Place) names(e ast.Expr, v *types.Var) bool {
	if e == nil {
		return false
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && p.Info.Uses[id] == v
}

// Files are all files of the place's package. They are not to be changed.
func (p *Place) Files() []*ast.File { return p.files }
