package scanperlookup

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// kept reports whether a list exists between searches: between calls of the function, or, for a
// variable of the function, between the iterations of a loop around the search.
func (sh *shape) kept(p *gocode.Place, e ast.Expr) bool { return keptAt(p, sh.scan, e) }

// keptAt is [shape.kept] for a search at a node.
func keptAt(p *gocode.Place, search ast.Node, e ast.Expr) bool {
	if livesOn(p, e) {
		return true
	}
	v := syntax.LocalVar(p, e)
	if v == nil {
		return false
	}
	if _, value := syntax.Declared(p, v); value != nil && copies(p, value) {
		return true
	}
	for _, outer := range loops.Around(p, search) {
		if !syntax.Inside(outer, v.Pos()) && !setAgain(p, loops.Body(outer), v) {
			return true
		}
	}
	return false
}

// setAgain reports whether a loop's body gives a list a value that does not come from it, or sets
// all its elements.
func setAgain(p *gocode.Place, body ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found {
			return !found
		}
		for i, lhs := range a.Lhs {
			if syntax.LocalVar(p, lhs) == v && !(elements{v: true}).in(p, a.Rhs[min(i, len(a.Rhs)-1)]) {
				found = true
			}
			x, ok := ast.Unparen(lhs).(*ast.IndexExpr)
			loop := p.LoopAround(a)
			if ok && loop != nil && syntax.LocalVar(p, x.X) == v && loopVar(p, loop, x.Index) && loops.EveryIteration(p, loop, a) {
				found = true
			}
		}
		return !found
	})
	return found
}

// loopVar reports whether an expression is the variable that a loop counts with.
func loopVar(p *gocode.Place, loop ast.Stmt, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil {
		return false
	}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		return l.Key != nil && syntax.LocalVar(p, l.Key) == v
	case *ast.ForStmt:
		return l.Init != nil && syntax.Inside(l.Init, v.Pos())
	}
	return false
}

// indexed returns the list whose elements a loop that counts with a variable looks at: first the
// one in a comparison. nil when there is none.
func indexed(p *gocode.Place, loop ast.Stmt, counter *types.Var) (over ast.Expr) {
	at := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			x, ok := n.(*ast.IndexExpr)
			if ok && over == nil && syntax.LocalVar(p, x.Index) == counter {
				if t := p.TypeOf(x.X); t != nil && list(t) {
					over = x.X
				}
			}
			return over == nil
		})
	}
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && b.Op != token.LAND && b.Op != token.LOR {
			at(b)
		}
		return over == nil
	})
	if over == nil {
		at(loops.Body(loop))
	}
	return over
}

// asks reports whether a condition depends on what the function was asked for: it has an operand or
// an argument that is a local variable, and neither the element nor the first so far. No order that
// is kept between calls answers that, as for the longest prefix of a path or the nearest point.
func (sh *shape) asks(p *gocode.Place, cond ast.Expr, vars, best elements) bool {
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, arg := range n.Args {
				found = found || sh.asks(p, arg, vars, best)
			}
			return false // the called function is not an operand
		case *ast.IndexExpr: // what is kept of the element in another list: distance[i]
			if (vars.in(p, n.Index) || best.in(p, n.Index)) && (sh.kept(p, n.X) || syntax.Same(p, n.X, sh.over)) {
				found = found || sh.asks(p, n.Index, vars, best)
				return false
			}
		case *ast.SelectorExpr: // a limit that the owner of the list keeps
			if root, part := syntax.Var(p, n); part && sh.owns(p, root) {
				return false
			}
		case *ast.Ident:
			v, ok := p.Object(n).(*types.Var)
			if !ok || v.IsField() || v.Parent() == p.Pkg.Scope() || best[v] {
				break
			}
			if !vars[v] {
				found = true
			} else if stmt, value := syntax.Declared(p, v); value != nil { // d := distance(element, from)
				_, starts := syntax.Parent(p, stmt).(*ast.ForStmt) // for e := list.first; …
				found = found || !starts && sh.asks(p, value, vars, best)
			}
		}
		return !found
	})
	return found
}

// owns reports whether a variable is the receiver, of which the list is a part.
func (sh *shape) owns(p *gocode.Place, v *types.Var) bool {
	root, part := syntax.Var(p, sh.over)
	return v != nil && part && root == v && p.Decl != nil && p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())
}

// livesOn reports whether a list, a parameter's field or a package variable, exists between calls.
func livesOn(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		root, _ := syntax.Var(p, x.X)
		return root != nil && (!syntax.Local(p, root) || syntax.Param(p, root)) || livesOn(p, x.X)
	case *ast.Ident:
		v, ok := p.Object(x).(*types.Var)
		return ok && v.Parent() == p.Pkg.Scope()
	case *ast.StarExpr:
		return livesOn(p, x.X)
	case *ast.IndexExpr: // one of several lists
		return livesOn(p, x.X)
	case *ast.CallExpr:
		return copies(p, x) || returnsKept(p, x)
	}
	return false
}

// copies reports whether an expression is a copy of a list that exists between calls.
func copies(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !funcname.Match(p.CalleeName(call), "append", "slices.Clone", "slices.Collect", "maps.Clone", "maps.Values", "maps.Keys", "slices.Values") {
		return false
	}
	return len(call.Args) > 0 && here(p, call.Args[len(call.Args)-1])
}

// here reports whether an expression is a list that exists between calls, or a copy of it, without
// regard to other functions of the package.
func here(p *gocode.Place, e ast.Expr) bool {
	if _, call := ast.Unparen(e).(*ast.CallExpr); call {
		return copies(p, e)
	}
	return livesOn(p, e)
}

// returnsKept reports whether a call without arguments asks a value that exists between calls for a
// list that it keeps, a copy of it, or an iterator over it.
func returnsKept(p *gocode.Place, call *ast.CallExpr) bool {
	to := syntax.Receiver(call)
	decl := p.Declaration(p.Callee(call))
	if to == nil || len(call.Args) > 0 || decl == nil || decl.Body == nil || p.Info.Selections[ast.Unparen(call.Fun).(*ast.SelectorExpr)] == nil {
		return false
	}
	if root, _ := syntax.Var(p, to); root == nil || syntax.Local(p, root) && !syntax.Param(p, root) {
		return false
	}
	in, kept := p.Entry(decl), false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt: // of an iterator, or a loop that copies the elements
			kept = kept || here(in, n.X)
		case *ast.ReturnStmt:
			kept = kept || len(n.Results) > 0 && here(in, n.Results[0])
		}
		return !kept
	})
	return kept
}
