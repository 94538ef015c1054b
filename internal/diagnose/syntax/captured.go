package syntax

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// OnLine returns the local variable or parameter with a name that the line of the place declares;
// nil for none.
func OnLine(p *gocode.Place, name string) *types.Var {
	if p.Decl == nil {
		return nil
	}
	for _, n := range p.Nodes {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name {
			continue
		}
		if v, ok := p.Info.Defs[id].(*types.Var); ok && Inside(p.Decl, id.Pos()) && !v.IsField() {
			return v
		}
	}
	return nil
}

// Capturing returns the outermost function literal around a use of a variable that does not contain
// its declaration.
func Capturing(p *gocode.Place, v *types.Var, use *ast.Ident) (found *ast.FuncLit) {
	for _, n := range p.Enclosing(use) {
		if lit, ok := n.(*ast.FuncLit); ok && !Inside(lit, v.Pos()) {
			found = lit
		}
	}
	return found
}

// TakesAddress reports whether a selector names a method with a pointer receiver of a value that is
// not a pointer: the call takes its address.
func TakesAddress(p *gocode.Place, sel *ast.SelectorExpr) bool {
	s := p.Info.Selections[sel]
	if s == nil {
		return false
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return false
	}
	_, wants := sig.Recv().Type().(*types.Pointer)
	_, has := s.Recv().Underlying().(*types.Pointer)
	return wants && !has
}
