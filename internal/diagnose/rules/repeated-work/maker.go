package repeatedwork

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
)

// makesOwn reports whether a function is a constructor, by its name, of objects that change by
// their methods, such as sketches and nodes, from numbers and what it links them to. All are equal
// when they are new, but each caller needs one of its own.
func (s *search) makesOwn(in *inputs.Function) bool {
	if !startsWith(in, "New", "Make", "Create", "Alloc") {
		return false
	}
	p, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return false
	}
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return false
	}
	for v := range sig.Params().Variables() {
		switch t := v.Type().Underlying().(type) {
		case *types.Pointer, *types.Interface:
		case *types.Basic:
			if t.Info()&types.IsString != 0 {
				return false // it may parse the text
			}
		default:
			return false
		}
	}
	for v := range sig.Results().Variables() {
		if ptr, ok := v.Type().Underlying().(*types.Pointer); ok && changesByMethods(p, ptr.Elem()) {
			return true
		}
	}
	return false
}

// changesByMethods reports whether a method of a type of the package assigns to a field of its
// receiver, or to an element of one.
func changesByMethods(p *gocode.Place, t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() != p.Pkg {
		return false
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl.Recv == nil || len(decl.Recv.List[0].Names) == 0 {
				continue
			}
			recv := p.Object(decl.Recv.List[0].Names[0])
			if recv == nil {
				continue
			}
			of := recv.Type()
			if ptr, ok := of.Underlying().(*types.Pointer); ok {
				of = ptr.Elem()
			}
			if n, ok := types.Unalias(of).(*types.Named); ok && n.Obj() == named.Obj() && assigns(p, decl.Body, recv) {
				return true
			}
		}
	}
	return false
}

// assigns reports whether a body assigns to a part of a variable.
func assigns(p *gocode.Place, body ast.Node, v types.Object) bool {
	found := false
	part := func(e ast.Expr) {
		if _, whole := e.(*ast.Ident); !whole {
			root, _ := syntax.Var(p, e)
			found = found || root == v
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				part(lhs)
			}
		case *ast.IncDecStmt:
			part(n.X)
		}
		return !found
	})
	return found
}
