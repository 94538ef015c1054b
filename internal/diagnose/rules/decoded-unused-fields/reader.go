package decodedunusedfields

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// levels is how many calls and returns away the variable is followed.
const levels = 3

// reader collects the fields that the program reads of a variable.
type reader struct {
	pass   *rule.Pass
	except *ast.CallExpr // the call that decodes it
	fields map[string]bool
}

// read adds the fields that a function reads of a variable of it, and the functions to which it
// passes or returns it. It reports false if the variable is used in a way that it cannot follow.
func (r *reader) read(p *gocode.Place, v *types.Var, depth int) bool {
	if depth == 0 {
		return false
	}
	returned := false
	for _, id := range syntax.Uses(p, v) {
		use := ast.Expr(id)
		parent := syntax.Parent(p, use)
		if addr, ok := parent.(*ast.UnaryExpr); ok {
			use, parent = addr, syntax.Parent(p, addr)
		} else if deref, ok := parent.(*ast.StarExpr); ok {
			use, parent = deref, syntax.Parent(p, deref)
		}
		switch n := parent.(type) {
		case *ast.SelectorExpr:
			if !r.selected(p, n, depth) {
				return false
			}
		case *ast.CallExpr:
			if n != r.except && !r.passed(p, n, use, depth) {
				return false
			}
		case *ast.ReturnStmt:
			returned = true
		case *ast.AssignStmt:
			if !assigned(n, use) {
				return false
			}
		case *ast.BinaryExpr, *ast.ValueSpec, *ast.Field: // compared with nil, or declared
		default:
			return false
		}
	}
	return !returned || r.callers(p, depth)
}

// assigned reports whether a statement sets the variable, rather than storing it somewhere.
func assigned(n *ast.AssignStmt, use ast.Expr) bool {
	for _, lhs := range n.Lhs {
		if ast.Unparen(lhs) == use {
			return true
		}
	}
	return false
}

// selected adds the field that a selector names, or what the method reads.
func (r *reader) selected(p *gocode.Place, sel *ast.SelectorExpr, depth int) bool {
	s := p.Info.Selections[sel]
	if s == nil {
		return false
	}
	if s.Kind() == types.FieldVal {
		field := s.Obj()
		if st := structOf(s.Recv()); st != nil && len(s.Index()) > 1 { // of an embedded struct
			field = st.Field(s.Index()[0])
		}
		r.fields[field.Name()] = true
		return true
	}
	method, ok := s.Obj().(*types.Func)
	if !ok {
		return false
	}
	in, ok := r.pass.Syntax.Declared(method)
	return ok && method.Signature().Recv() != nil && r.read(in, syntax.SignatureOf(in).Recv(), depth-1)
}

// passed adds what a called function of the program reads of the argument.
func (r *reader) passed(p *gocode.Place, call *ast.CallExpr, use ast.Expr, depth int) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	in, ok := r.pass.Syntax.Declared(fn)
	if !ok {
		return false
	}
	sig := syntax.SignatureOf(in)
	for i, arg := range call.Args {
		if ast.Unparen(arg) == use {
			return i < sig.Params().Len() && !sig.Variadic() && r.read(in, sig.Params().At(i), depth-1)
		}
	}
	return false
}

// callers adds what the callers of a function that returns the variable read of the result.
func (r *reader) callers(p *gocode.Place, depth int) bool {
	if p.Decl == nil || p.Func != p.Decl {
		return false
	}
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok || self.Exported() && self.Pkg().Name() != "main" {
		return false
	}
	places := r.pass.Syntax.Calls(func(f *types.Func) bool { return f == self })
	for _, place := range places {
		for _, call := range place.Calls() {
			if place.Callee(call) != self {
				continue
			}
			if v := syntax.Result(place, call); v == nil || v.IsField() || !r.read(place, v, depth-1) {
				return false
			}
		}
	}
	return len(places) > 0
}
