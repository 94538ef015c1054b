package jsontoany

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// inHelper judges a function that decodes for its callers: into what they pass, or into a value
// that it returns. It keeps the rows of callers that only read constant keys.
func inHelper(c *finder.Case) (keys []string, ok bool) {
	if len(c.Calls) != 1 || c.Place.Decl == nil || c.Place.Func != ast.Node(c.Place.Decl) {
		return nil, false
	}
	v, ok := decoded(c.Place, c.Calls[0])
	if !ok {
		return nil, false
	}
	c.Keep(func(r *site.Row) bool {
		p, call := loops.CallerOf(c.Pass.Syntax, r)
		if call == nil {
			return false
		}
		theirs := syntax.Result(p, call)
		if syntax.Param(c.Place, v) {
			theirs = addressed(p, flow.ArgumentFor(c.Place, call, v))
		}
		if theirs == nil || !syntax.Local(p, theirs) || !shapeless(theirs.Type()) {
			return false
		}
		reads := reader{place: p.Outer(), seen: map[*types.Var]bool{}, given: call}
		if !reads.variable(theirs) || len(reads.keys) == 0 {
			return false
		}
		keys = append(keys, reads.keys...)
		return true
	})
	return keys, !c.Empty()
}

// decoded returns the variable that a call in a helper decodes into: a parameter that it passes on,
// or one of any shape that the function only returns.
func decoded(p *gocode.Place, call *ast.CallExpr) (*types.Var, bool) {
	if len(call.Args) == 0 {
		return nil, false
	}
	last := call.Args[len(call.Args)-1]
	if v := syntax.LocalVar(p, last); v != nil && syntax.Param(p, v) && !syntax.IsResult(p, v) {
		return v, true
	}
	v := addressed(p, last)
	if v == nil || !syntax.Local(p, v) || syntax.Param(p, v) && !syntax.IsResult(p, v) || !shapeless(v.Type()) && !syntax.Generic(v.Type()) {
		return nil, false
	}
	for _, id := range syntax.Reads(p, v) {
		switch n := syntax.Parent(p, id).(type) {
		case *ast.ReturnStmt:
			if len(n.Results) == 0 || ast.Unparen(n.Results[0]) != ast.Expr(id) {
				return nil, false
			}
		case *ast.UnaryExpr:
			if !syntax.Within(call, n) {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return v, true
}

// passed examines a decoded value that is passed to a function of the package, which may get the
// key as another argument.
func (r *reader) passed(call *ast.CallExpr, value ast.Expr) bool {
	if call == r.given {
		return true // the helper decodes into it
	}
	fn := r.place.Callee(call)
	decl := r.place.Declaration(fn)
	if decl == nil || decl.Body == nil || fn.Signature().Variadic() || r.depth >= deepest {
		return false
	}
	for i, arg := range call.Args {
		if ast.Unparen(arg) != value {
			continue
		}
		in := r.place.Entry(decl)
		param := fn.Signature().Params().At(i)
		if !shapeless(param.Type()) || len(syntax.Assigned(in, param)) > 0 {
			return false
		}
		inner := reader{place: in, seen: map[*types.Var]bool{}, depth: r.depth + 1, caller: r.place, call: call}
		known := inner.variable(param)
		r.keys = append(r.keys, inner.keys...)
		return known
	}
	return false
}

// deepest is the number of nested calls that a decoded value is followed into.
const deepest = 2

// field returns the field of any shape of a local struct that a call decodes into, if the function
// uses only fields of it: the field's uses decide.
func (r *reader) field(v *types.Var) bool {
	s, ok := v.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	loose := false
	for f := range s.Fields() {
		loose = loose || shapeless(f.Type())
	}
	for _, use := range syntax.Uses(r.place, v) {
		if !loose {
			break
		}
		sel, ok := syntax.Parent(r.place, use).(*ast.SelectorExpr)
		if !ok {
			if unary, is := syntax.Parent(r.place, use).(*ast.UnaryExpr); !syntax.Defines(r.place, use) && (!is || !decodes(r.place, unary)) {
				return false
			}
			continue
		}
		f, ok := r.place.Object(sel.Sel).(*types.Var)
		if !ok || shapeless(f.Type()) && !r.use(sel) {
			return false
		}
	}
	return loose
}

// decodes reports whether an address is an argument of a call that decodes.
func decodes(p *gocode.Place, addr *ast.UnaryExpr) bool {
	call, ok := syntax.Parent(p, addr).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), typed()...)
}
