package effects

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepestReached is the number of nested calls that are followed.
const deepestReached = 6

// ChangesReached reports whether a function changes what its receiver, its parameters or package
// variables refer to, itself or through functions of the program. It may change objects that it
// makes, in any depth. What calls return counts as a part of what they get, except for copies.
// Locks do not count, and other packages are assumed to change only lists that they sort.
func ChangesReached(s *gocode.Syntax, p *gocode.Place) bool {
	if p.Decl == nil || p.Decl.Body == nil {
		return true
	}
	r := reached{syntax: s, known: map[reachedPart]bool{}}
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return true
	}
	given := slices.Collect(sig.Params().Variables())
	if sig.Recv() != nil {
		given = append(given, sig.Recv())
	}
	return r.changes(p, given, deepestReached)
}

type reached struct {
	syntax *gocode.Syntax
	known  map[reachedPart]bool
}

type reachedPart struct {
	decl *ast.FuncDecl
	v    *types.Var
}

// changes reports whether a function changes what some of its variables refer to.
func (r reached) changes(p *gocode.Place, of []*types.Var, depth int) bool {
	if depth == 0 {
		return true
	}
	parts := r.aliases(p, of)
	changed := func(e ast.Expr) bool {
		v, part := syntax.Var(p, e)
		return v != nil && (v.Pkg() != nil && v.Parent() == v.Pkg().Scope() || part && slices.Contains(parts, v))
	}
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, changed)
		case *ast.IncDecStmt:
			found = found || changed(n.X)
		case *ast.SendStmt, *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			found = found || r.changedBy(p, n, parts, depth)
		}
		return !found
	})
	return found
}

// aliases returns variables of a function, and the local ones that get a part of what these refer
// to.
func (r reached) aliases(p *gocode.Place, of []*types.Var) []*types.Var {
	parts := slices.Clone(of)
	add := func(to, from ast.Expr) {
		v := syntax.LocalVar(p, to)
		if from != nil && v != nil && !slices.Contains(parts, v) && refers(v.Type(), 3) && rooted(p, from, parts) {
			parts = append(parts, v)
		}
	}
	for range 3 { // later statements first, in loops
		ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					add(lhs, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			case *ast.RangeStmt:
				if n.Value != nil {
					add(n.Value, n.X)
				}
			}
			return true
		})
	}
	return parts
}

// refers reports whether values of a type refer to something that can be changed through them.
func refers(t types.Type, depth int) bool {
	if depth == 0 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Chan, *types.Signature:
		return true
	case *types.Array:
		return refers(u.Elem(), depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if refers(f.Type(), depth-1) {
				return true
			}
		}
	}
	return false
}

// rooted reports whether an expression is a part of what some variables refer to, or the result of
// a call that gets one, unless the call copies it.
func rooted(p *gocode.Place, e ast.Expr, parts []*types.Var) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if fn := p.Callee(call); fn != nil && slices.ContainsFunc([]string{"clone", "copy", "deepcopy"}, func(word string) bool { return strings.HasPrefix(strings.ToLower(fn.Name()), word) }) {
			return false
		}
		args := call.Args
		if p.CalleeName(call) == "append" { // a new list, with elements of others
			args = args[1:]
		}
		to := syntax.Receiver(call)
		return to != nil && rooted(p, to, parts) || slices.ContainsFunc(args, func(arg ast.Expr) bool {
			t := p.TypeOf(arg)
			return t != nil && refers(t, 3) && rooted(p, arg, parts)
		})
	}
	v, _ := syntax.Var(p, e)
	return v != nil && (slices.Contains(parts, v) || v.Pkg() != nil && v.Parent() == v.Pkg().Scope())
}

// changedBy reports whether a call changes a part of what some variables refer to.
func (r reached) changedBy(p *gocode.Place, call *ast.CallExpr, parts []*types.Var, depth int) bool {
	name := p.CalleeName(call)
	if name == "delete" || name == "clear" || name == "copy" || funcname.Match(name, "sort.S*", "slices.Sort*", "slices.Reverse") {
		return rooted(p, call.Args[0], parts)
	}
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	in, ok := r.syntax.Declared(fn)
	if !ok || in.Decl == nil || in.Decl.Body == nil {
		return false
	}
	sig := fn.Signature()
	var of []*types.Var
	if to := syntax.Receiver(call); to != nil && sig.Recv() != nil && rooted(p, to, parts) {
		of = append(of, declaredAs(in, -1))
	}
	for i, arg := range call.Args {
		if rooted(p, arg, parts) && sig.Params().Len() > 0 {
			of = append(of, declaredAs(in, min(i, sig.Params().Len()-1)))
		}
	}
	of = slices.DeleteFunc(of, func(v *types.Var) bool { return v == nil || !refers(v.Type(), 3) })
	for _, v := range of {
		part := reachedPart{in.Decl, v}
		found, seen := r.known[part]
		if !seen {
			r.known[part] = false // of a recursion
			found = r.changes(in, []*types.Var{v}, depth-1)
			r.known[part] = found
		}
		if found {
			return true
		}
	}
	if len(of) == 0 { // package variables
		part := reachedPart{in.Decl, nil}
		if _, seen := r.known[part]; !seen {
			r.known[part] = false
			r.known[part] = r.changes(in, nil, depth-1)
		}
		return r.known[part]
	}
	return false
}

// declaredAs returns a parameter of a function, or its receiver for -1; nil for none.
func declaredAs(in *gocode.Place, i int) *types.Var {
	sig := syntax.SignatureOf(in)
	if sig == nil {
		return nil
	}
	if i < 0 {
		return sig.Recv()
	}
	return sig.Params().At(i)
}
