package needlessinvalidation

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// guard is a test of a function whether a result that it keeps is still valid.
type guard struct {
	test *ast.IfStmt
	name ast.Expr   // the version, the flag or the result, as the test names it
	of   *types.Var // the same
	kind kind
	then bool // the result is computed if the test holds, else after the return in it
	set  bool // the value of a flag while the result is valid
}

// kind says what makes the result outdated.
type kind int

const (
	version kind = iota // a number that is counted up
	flag                // a flag that is set
	missing             // the result is nil
	entry               // an entry of a map or a cache
)

// guards returns the tests in a function whose result decides whether something is computed again.
func guards(p *gocode.Place, versions func() map[*types.Var]bool) (found []*guard) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		test, ok := n.(*ast.IfStmt)
		if !ok || len(test.Body.List) == 0 {
			return true
		}
		_, returns := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt)
		for _, c := range conjuncts(test.Cond) {
			g := &guard{test: test}
			fresh, ok := g.tests(p, c, versions)
			if g.kind == flag {
				fresh, g.set = returns, fresh != returns
			}
			if !ok || fresh && !returns {
				continue
			}
			g.then = !fresh
			found = append(found, g)
		}
		return true
	})
	return found
}

// conjuncts returns the operands of && and || in a condition.
func conjuncts(e ast.Expr) []ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []ast.Expr{e}
}

// tests notes what a condition compares, and reports whether it holds while the result is valid.
func (g *guard) tests(p *gocode.Place, cond ast.Expr, versions func() map[*types.Var]bool) (fresh, ok bool) {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr: // !dirty, !ok
		if x.Op != token.NOT {
			return false, false
		}
		if g.looksUp(p, x.X) {
			return false, true
		}
		g.kind = flag
		return true, g.lasting(p, x.X)
	case *ast.BinaryExpr:
		if x.Op != token.EQL && x.Op != token.NEQ {
			return false, false
		}
		if p.Info.Types[x.Y].IsNil() {
			g.kind = missing
			return x.Op == token.NEQ, g.lasting(p, x.X)
		}
		g.kind = version
		for _, side := range []ast.Expr{x.Y, x.X} {
			if t := p.TypeOf(side); t != nil && integer(t) && g.lasting(p, side) && versions()[g.of] {
				return x.Op == token.EQL, true
			}
		}
		return false, false
	default: // dirty, ok
		if g.looksUp(p, cond) {
			return true, true
		}
		g.kind = flag
		return false, g.lasting(p, cond)
	}
}

// looksUp notes the map or cache in which a variable says that there is an entry: v, ok := m[k];
// v, ok := c.Get(k).
func (g *guard) looksUp(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	if v == nil || !boolean(v.Type()) {
		return false
	}
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 || syntax.LocalVar(p, a.Lhs[1]) != v {
			return !found
		}
		g.kind = entry
		switch x := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.IndexExpr:
			found = g.lasting(p, x.X)
		case *ast.CallExpr:
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			found = ok && len(x.Args) > 0 && slices.Contains([]string{"Get", "Load", "Peek", "Lookup", "Find"}, sel.Sel.Name) && g.lasting(p, sel.X)
		}
		return !found
	})
	return found
}

func integer(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// lasting notes an expression that is a field or a package variable, or the value of an atomic one.
func (g *guard) lasting(p *gocode.Place, e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		to := syntax.Receiver(call)
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); !ok || to == nil || sel.Sel.Name != "Load" || len(call.Args) > 0 {
			return false
		}
		e = to
	}
	v := syntax.Named(p, e)
	if v == nil || v.Pkg() != p.Pkg || !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return false
	}
	if g.kind == flag && !boolean(v.Type()) {
		return false
	}
	g.name, g.of = e, v
	return true
}

// boolean reports whether a variable of a type is a flag, maybe an atomic one.
func boolean(t types.Type) bool {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()&types.IsBoolean != 0
	}
	return types.TypeString(t, nil) == "sync/atomic.Bool"
}

// countedIn returns the variables that a package counts up: others are not versions.
func countedIn(p *gocode.Place) map[*types.Var]bool {
	found := map[*types.Var]bool{}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				if v := counts(p, n); v != nil {
					found[v] = true
				}
			}
			return true
		})
	}
	return found
}

// counts returns the variable that a node adds to; nil for none.
func counts(p *gocode.Place, n ast.Node) *types.Var {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		if n.Tok == token.INC {
			return syntax.Named(p, n.X)
		}
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN {
			return syntax.Named(p, n.Lhs[0])
		}
	case *ast.CallExpr:
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if to := syntax.Receiver(n); to != nil && sel.Sel.Name == "Add" {
			return syntax.Named(p, to)
		}
		if len(n.Args) == 2 && len(sel.Sel.Name) > 3 && sel.Sel.Name[:3] == "Add" {
			if u, ok := ast.Unparen(n.Args[0]).(*ast.UnaryExpr); ok && u.Op == token.AND {
				return syntax.Named(p, u.X)
			}
		}
	}
	return nil
}

// computing returns the first call, on the place's line, of a function of the package that runs
// when the result is outdated, or the loop around the line that does; nil for none.
func (g *guard) computing(p *gocode.Place) ast.Node {
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || p.Declaration(fn) == nil || fn.Signature().Results().Len() == 0 {
			continue // a step of a state machine: open, connect, indent
		}
		if g.then && syntax.Within(g.test.Body, call) || !g.then && call.Pos() > g.test.End() && follows(p, g.test, call) {
			return call
		}
	}
	if !g.then || g.kind != missing || !g.setsResult(p) {
		return nil
	}
	for _, stmt := range g.test.Body.List {
		switch stmt.(type) {
		case *ast.RangeStmt, *ast.ForStmt:
			if syntax.Line(p, stmt.Pos()) <= p.Line && p.Line <= syntax.Line(p, stmt.End()) {
				return stmt
			}
		}
	}
	return nil
}

// setsResult reports whether the body of the test sets the result that is missing.
func (g *guard) setsResult(p *gocode.Place) bool {
	return slices.ContainsFunc(g.test.Body.List, func(stmt ast.Stmt) bool {
		a, ok := stmt.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return syntax.Named(p, e) == g.of })
	})
}

// follows reports whether a call is in the block of a test, after it.
func follows(p *gocode.Place, test *ast.IfStmt, call *ast.CallExpr) bool {
	block, ok := syntax.Parent(p, test).(*ast.BlockStmt)
	return ok && syntax.Within(block, call)
}

// invalidates reports whether a node makes the result outdated.
func (g *guard) invalidates(p *gocode.Place, n ast.Node) bool {
	switch g.kind {
	case version:
		return counts(p, n) == g.of
	case entry:
		return g.removes(p, n)
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) || syntax.Named(p, lhs) != g.of {
				continue
			}
			return g.kind == missing && p.Info.Types[n.Rhs[i]].IsNil() || g.kind == flag && g.outdates(p, n.Rhs[i])
		}
	case *ast.CallExpr: // of an atomic value
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if to := syntax.Receiver(n); ok && to != nil && sel.Sel.Name == "Store" && len(n.Args) == 1 && syntax.Named(p, to) == g.of {
			return g.kind == missing && p.Info.Types[n.Args[0]].IsNil() || g.kind == flag && g.outdates(p, n.Args[0])
		}
	}
	return false
}

// removes reports whether a node removes entries: of a map, or with a method of a cache.
func (g *guard) removes(p *gocode.Place, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return syntax.Named(p, e) == g.of })
	case *ast.CallExpr:
		if name := p.CalleeName(n); name == "clear" || name == "delete" {
			return syntax.Named(p, n.Args[0]) == g.of
		}
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		return ok && syntax.Receiver(n) != nil && syntax.Named(p, sel.X) == g.of &&
			slices.Contains([]string{"Clear", "Purge", "Flush", "Reset", "Remove", "Delete", "Del", "Invalidate", "InvalidateAll", "RemoveAll", "DeleteAll", "Evict"}, sel.Sel.Name)
	}
	return false
}

// outdates reports whether a value of the flag says that the result is outdated.
func (g *guard) outdates(p *gocode.Place, e ast.Expr) bool {
	v, ok := p.Const(e)
	return ok && v.Kind() == constant.Bool && constant.BoolVal(v) != g.set
}

// changes returns the nodes that make the result outdated, outside of the function that computes
// it. For a function that does nothing else these are its calls.
func (g *guard) changes(pass *rule.Pass, p *gocode.Place) (all []change) {
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl == p.Decl {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if n != nil && g.invalidates(in, n) {
					all = append(all, g.behind(pass, in, change{at: n, in: decl}, 3)...)
				}
				return true
			})
		}
	}
	return all
}

// behind returns the calls of a function that only makes the result outdated, or that other methods
// of its type call after their changes; or the change itself.
func (g *guard) behind(pass *rule.Pass, in *gocode.Place, c change, depth int) []change {
	fn, ok := in.Object(c.in.Name).(*types.Func)
	if depth--; ok && depth > 0 && callsBack(in.Entry(c.in)) {
		if all := applied(pass, in, c, fn); len(all) > 0 {
			return all
		}
	}
	set := setBy(in, c, g.of)
	if !ok || set == nil || depth == 0 {
		return []change{c}
	}
	only := len(set.names) == 0
	var calls []change
	for _, at := range pass.Syntax.CallsOf(gocode.FullName(fn)) {
		if at.Decl == nil || at.Pkg != in.Pkg {
			continue
		}
		only = only || sameReceiver(at, fn)
		for _, call := range syntax.CallsOf(at, gocode.FullName(fn)) {
			if !slices.ContainsFunc(calls, func(c change) bool { return c.at == ast.Node(call) }) {
				calls = append(calls, change{at: call, in: at.Decl})
			}
		}
	}
	if len(calls) == 0 || !only {
		return []change{c}
	}
	var all []change
	for _, call := range calls {
		if callsBack(in.Entry(call.in)) {
			all = append(all, g.behind(pass, in, call, depth)...)
		} else {
			all = append(all, call)
		}
	}
	return all
}

// callsBack reports whether a function calls one of its parameters.
func callsBack(p *gocode.Place) (found bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && ofParameter(p, call)
		return !found
	})
	return found
}

// ofParameter reports whether a call is of a function that is a parameter.
func ofParameter(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.LocalVar(p, call.Fun)
	return v != nil && syntax.Param(p, v)
}

// applied returns the calls of a function that makes a change by a function which it gets, if all
// of them pass function literals; nil for others.
func applied(pass *rule.Pass, in *gocode.Place, c change, fn *types.Func) (all []change) {
	for _, at := range pass.Syntax.CallsOf(gocode.FullName(fn)) {
		if at.Decl == nil || at.Pkg != in.Pkg {
			return nil
		}
		for _, call := range syntax.CallsOf(at, gocode.FullName(fn)) {
			one := change{at: call, in: c.in, by: at.Decl}
			for _, arg := range call.Args {
				if _, is := at.TypeOf(arg).Underlying().(*types.Signature); !is {
					continue
				}
				lit, ok := ast.Unparen(arg).(*ast.FuncLit)
				if !ok {
					return nil
				}
				one.apply = append(one.apply, lit)
			}
			if !slices.ContainsFunc(all, func(c change) bool { return c.at == one.at }) {
				all = append(all, one)
			}
		}
	}
	return all
}

// sameReceiver reports whether the function at a place is a method of the type of another one.
func sameReceiver(at *gocode.Place, fn *types.Func) bool {
	caller, ok := at.Object(at.Decl.Name).(*types.Func)
	if !ok || caller == fn || caller.Signature().Recv() == nil || fn.Signature().Recv() == nil {
		return false
	}
	return types.Identical(syntax.Pointed(caller.Signature().Recv().Type()), syntax.Pointed(fn.Signature().Recv().Type()))
}

// takes reports whether a function that makes a result outdated uses it before: it hands it over or
// closes it. Such a value is used up, not computed again.
func (g *guard) takes(in *gocode.Place, decl *ast.FuncDecl) bool {
	if g.kind != missing {
		return false
	}
	found, p := false, in.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || syntax.Named(p, e) != g.of {
			return !found
		}
		switch up := syntax.Parent(p, e).(type) {
		case *ast.AssignStmt:
			found = found || !slices.Contains(up.Lhs, e)
		case *ast.BinaryExpr:
			found = found || !p.Info.Types[up.Y].IsNil()
		case *ast.SelectorExpr: // of the field itself, or a method that sets it
			found = found || up.X == e && up.Sel.Name != "Store"
		default:
			found = true
		}
		return !found
	})
	return found
}
