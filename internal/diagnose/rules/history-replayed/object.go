package historyreplayed

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of local variables that are followed.
const deepest = 6

// passed returns the object whose method all callers pass for a parameter; "" for other functions.
func (s *search) passed(p *gocode.Place, v *types.Var, loop *ast.RangeStmt) (object string) {
	for _, arg := range flow.Passed(s.pass.Syntax, p, v) {
		sel, ok := ast.Unparen(arg.Value).(*ast.SelectorExpr)
		if !ok || arg.Place.Info.Selections[sel] == nil || arg.Place.Info.Selections[sel].Kind() != types.MethodVal {
			return ""
		}
		call, ok := syntax.Parent(arg.Place, arg.Value).(*ast.CallExpr)
		if !ok {
			return ""
		}
		if object = s.fresh(arg.Place, sel.X, call, arg.Value.Pos()); object == "" {
			return ""
		}
	}
	return object
}

// fresh returns the name of a local variable that a function sets to a new object once, of a type
// of the program and with nothing of the request; "" for others. What also chooses the list, such
// as the name of a stream, may be in the object.
func (s *search) fresh(p *gocode.Place, e, list ast.Expr, until token.Pos) string {
	v := syntax.LocalVar(p, e)
	if v == nil || syntax.Param(p, v) || p.Decl == nil || !s.own(v.Type()) {
		return ""
	}
	stmt, value := syntax.Declared(p, v)
	if stmt == nil || filled(p, v, list, stmt.End(), until) {
		return ""
	}
	if value == nil {
		if spec, ok := stmt.(*ast.ValueSpec); ok && len(spec.Values) == 0 {
			return v.Name()
		}
		return ""
	}
	if given(p, value, list) {
		return ""
	}
	x := ast.Unparen(value)
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		x = ast.Unparen(u.X)
	}
	switch x := x.(type) {
	case *ast.CompositeLit:
		return v.Name()
	case *ast.CallExpr:
		if p.CalleeName(x) == "new" {
			return v.Name()
		}
		if fn := p.Callee(x); fn != nil && len(fn.Name()) > 3 && strings.EqualFold(fn.Name()[:3], "new") {
			return v.Name()
		}
	}
	return ""
}

// own reports whether a type is of a package whose source hone has: not one that writes to a client
// or a file, such as a json.Encoder, or collects bytes.
func (s *search) own(t types.Type) bool {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	_, loaded := s.pass.Syntax.Package(named.Obj().Pkg().Path())
	return loaded
}

// filled reports whether the function gives an object something of the request between two
// positions.
func filled(p *gocode.Place, v *types.Var, list ast.Expr, from, to token.Pos) bool {
	for _, use := range syntax.Uses(p, v) {
		if use.Pos() < from || use.Pos() >= to {
			continue
		}
		for _, up := range p.Enclosing(use) {
			_, assigns := up.(*ast.AssignStmt)
			_, calls := up.(*ast.ExprStmt)
			if (assigns || calls) && up.Pos() < to && up.End() <= to && given(p, up, list) {
				return true
			}
		}
	}
	return false
}

// given reports whether something has a parameter of the function in it, itself or through local
// variables; but its receiver, and what is also in the expression of the list, which it chooses.
func given(p *gocode.Place, n ast.Node, list ast.Expr) bool {
	if v := syntax.LocalVar(p, list); v != nil {
		if values := syntax.Assigned(p, v); len(values) == 1 {
			list = values[0]
		}
	}
	return parameters(p, n, list, deepest)
}

func parameters(p *gocode.Place, n ast.Node, list ast.Expr, depth int) bool {
	if depth == 0 {
		return true
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found {
			return !found
		}
		v := syntax.LocalVar(p, id)
		if v == nil || receiver(p, v) || syntax.Mentions(p, list, v) {
			return true
		}
		found = parameter(p, v) || slices.ContainsFunc(syntax.Assigned(p, v), func(e ast.Expr) bool { return !syntax.Mentions(p, e, v) && parameters(p, e, list, depth-1) })
		return !found
	})
	return found
}

// parameter reports whether a variable is a parameter of the function, or of one inside it.
func parameter(p *gocode.Place, v *types.Var) bool {
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncType)
		found = found || ok && f.Params.Pos() <= v.Pos() && v.Pos() < f.Params.End()
		return !found
	})
	return found
}

// receiver reports whether a variable is the receiver of the function.
func receiver(p *gocode.Place, v *types.Var) bool {
	recv := p.Decl.Recv
	return recv != nil && recv.Pos() <= v.Pos() && v.Pos() < recv.End()
}
